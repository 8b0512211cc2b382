-- What a measurement asks of the store beside the searches themselves.

-- The text right behind each passage, empty where its document ends.
-- name: what_follows
SELECT q.place, substr(d.text, q.end_at + 1, %(characters)s::integer) AS text
FROM unnest(%(places)s::integer[], %(documents)s::bigint[], %(ends)s::integer[])
     AS q (place, document_id, end_at)
JOIN document d ON d.id = q.document_id
ORDER BY q.place;
