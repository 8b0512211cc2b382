"""Function words by language: they say how a sentence is built, not what it is about.

Articles, prepositions and their contractions, pronouns, auxiliaries, conjunctions and question
words. Numerals, and words that carry content in a question ("due", "fare", "perché"), are not
among them. All are written lower case without accents, the form terms are compared in.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Final

__all__ = ["STOP_WORDS", "stop_words"]

_ITALIAN = """
il lo la i gli le l un uno una
di a da in con su per tra fra d
del dello della dei degli delle dell
al allo alla ai agli alle all
dal dallo dalla dai dagli dalle dall
nel nello nella nei negli nelle nell
sul sullo sulla sui sugli sulle sull
col coi collo colla
io tu egli ella esso essa noi voi essi esse loro lui lei me te se mi ti ci vi si ne
gliene glielo gliela glieli gliele
mio mia miei mie tuo tua tuoi tue suo sua suoi sue nostro nostra nostri nostre
vostro vostra vostri vostre
questo questa questi queste quest quello quella quelli quelle quel quei quegli quell
cio costui costei colui colei coloro stesso stessa stessi stesse
che chi cui quale quali qual quanto quanta quanti quante quando dove dov come
cosa cos c
e ed o od ma pero anche anch ne se sia oppure ovvero quindi dunque cioe infatti mentre
poiche affinche benche sebbene pur pure neanche nemmeno neppure
non piu meno molto molta molti molte poco poca pochi poche tanto tanta tanti tante troppo
troppa troppi troppe ogni ognuno ognuna tutto tutta tutti tutte tutt alcuno alcuna alcuni alcune
qualche qualcuno qualcosa qualsiasi qualunque nessuno nessuna nessun altro altra altri altre altr
tale tali cosi
qui qua li la quivi vi gia ancora sempre mai poi ora allora solo soltanto proprio
sono sei e siamo siete era eri eravamo eravate erano sara sarai saro saremo sarete saranno
sarei sarebbe sarebbero fui fu fummo foste furono fossi fosse fossero essere essendo
stato stata stati state sia siano
ho hai ha abbiamo avete hanno avevo avevi aveva avevamo avevate avevano
avro avrai avra avremo avrete avranno avrei avrebbe avrebbero ebbi ebbe ebbero
abbia abbiano avessi avesse avessero avere avendo avuto avuta avuti avute
sto stai sta stiamo stanno stavo stava stavano
puo posso puoi possono possiamo potete poteva potevano potrebbe potrei potrebbero potra potranno
deve devo devi devono dobbiamo dovete doveva dovevano dovrebbe dovrei dovrebbero dovra dovranno
vuole vuoi voglio vogliono vorrei vorrebbe
viene vengono venne vennero veniva venivano
circa verso presso senza dopo prima durante secondo contro sopra sotto dentro fuori oltre entro
tramite mediante nonostante invece
"""

_ENGLISH = """
a an the
of in on at by for with about against between into through during before after above below to
from up down out off over under onto upon within without among towards toward per via as
i me my mine myself we us our ours ourselves you your yours yourself yourselves
he him his himself she her hers herself it its itself they them their theirs themselves
this that these those one ones someone somebody something anyone anybody anything everyone
everybody everything nobody nothing
who whom whose which what when where why how whatever whichever whoever whenever wherever
and or but nor so yet if because while although though unless until than whether either neither
both since
am is are was were be been being have has had having do does did doing done
will would shall should can could may might must ought cannot
not no any some all each every few many much more most other others another such own same only
just too very also even still already again once here there then now ever never
s t re ve ll d m don didn doesn isn aren wasn weren won wouldn shouldn couldn hasn haven hadn
mustn ain
please
"""

_GERMAN = """
der die das den dem des ein eine einen einem einer eines kein keine keinen keinem keiner keines
und oder aber denn sondern doch wenn weil dass ob als wie wo wann warum wieso weshalb wer wen
wem wessen was welche welcher welches welchen welchem wieviel wohin woher
in im ins an am ans auf aus bei beim mit nach von vom vor zu zum zur uber unter zwischen durch fur
gegen ohne um bis seit wahrend wegen trotz neben hinter
ich du er sie es wir ihr mich dich ihn uns euch mir dir ihm ihnen sich man
mein meine meinen meinem meiner meines dein deine deinen deinem deiner sein seine seinen seinem
seiner seines ihre ihren ihrem ihrer ihres unser unsere unseren unserem unserer euer eure
dieser diese dieses diesen diesem jener jene jenes jeder jede jedes jeden jedem alle allen aller
alles einige einiger einigen mancher manche solche solcher
bin bist ist sind seid war waren warst gewesen sei waere ware
habe hast hat haben habt hatte hatten gehabt hatten
werde wirst wird werden werdet wurde wurden worden geworden
kann kannst konnen konnte konnten muss musst mussen musste mussten soll sollen sollte sollten
will wollen wollte darf durfen mag mochte mochten
nicht nichts nur noch schon auch sehr mehr so dann da dort hier nun jetzt immer wieder etwas also
selbst
"""

_FRENCH = """
le la les l un une des du de d au aux
a dans par pour en vers avec sans sous sur entre chez contre depuis pendant avant apres jusque
je tu il elle on nous vous ils elles me te se moi toi lui leur eux y j m t s c n qu
mon ma mes ton ta tes son sa ses notre nos votre vos leurs
ce cet cette ces cela ca ceci celui celle ceux celles
qui que quoi dont ou quand comment pourquoi combien quel quelle quels quelles lequel laquelle
lesquels lesquelles
et mais donc or ni car si comme lorsque puisque
suis es est sommes etes sont etais etait etions etiez etaient serai sera serons serez seront serait
seraient fut furent ete etre etant soit soient
ai as avons avez ont avais avait avions aviez avaient aurai aura aurons auront aurait auraient
eu avoir ayant ait aient
fait peut peuvent pouvait doit doivent devait
ne pas plus moins tres trop aussi tout toute tous toutes autre autres meme memes aucun aucune
chaque plusieurs quelque quelques deja encore toujours jamais ici la alors puis
"""

_SPANISH = """
el la los las lo un una unos unas al del
a ante bajo con contra de desde durante en entre hacia hasta mediante para por segun sin sobre tras
yo tu usted ustedes el ella ello ellos ellas nosotros nosotras vosotros vosotras me te se nos os le
les mi ti si conmigo contigo consigo
mis tus su sus nuestro nuestra nuestros nuestras vuestro vuestra vuestros vuestras mio mia tuyo
tuya suyo suya suyos suyas
este esta estos estas ese esa esos esas aquel aquella aquellos aquellas esto eso aquello
que quien quienes cual cuales cuyo cuya cuando donde como cuanto cuanta cuantos cuantas porque
y e o u pero mas sino ni aunque pues
soy eres es somos sois son era eras eramos eran sera seran seria serian fue fueron sido ser siendo
sea sean estoy estas esta estamos estan estaba estaban estar estado este esten
he has ha hemos habeis han habia habian habra habran habria haber habido haya hayan hay
tengo tiene tienen tenia tenian puede pueden podia debe deben
no muy tan tanto poco mucho mucha muchos muchas otro otra otros otras todo toda todos todas algun
alguno alguna algunos algunas ningun ninguno ninguna cada mismo misma mismos mismas ya tambien
aqui alli ahora entonces siempre nunca solo
"""

_PORTUGUESE = """
o a os as um uma uns umas ao aos do da dos das no na nos nas num numa pelo pela pelos pelas
de em por para com sem sob sobre entre ate desde contra apos perante
eu tu ele ela nos vos eles elas voce voces me te se lhe lhes mim ti si comigo contigo
meu minha meus minhas teu tua teus tuas seu sua seus suas nosso nossa nossos nossas dele dela deles
delas
este esta estes estas esse essa esses essas aquele aquela aqueles aquelas isto isso aquilo deste
desta neste nesta desse dessa nesse nessa
que quem qual quais cujo cuja quando onde como quanto quanta quantos quantas porque
e ou mas nem se pois porem embora
sou es somos sao era eras eramos eram sera serao seria seriam foi foram sido ser sendo seja sejam
estou esta estamos estao estava estavam estar estado esteja
tenho tem temos tinha tinham tera terao teria ter tido tendo tenha ha havia haver
pode podem podia deve devem
nao mais menos muito muita muitos muitas pouco pouca poucos outro outra outros outras todo toda
todos todas algum alguma alguns algumas nenhum nenhuma cada mesmo mesma mesmos mesmas ja tambem
aqui ali agora entao sempre nunca so
"""

STOP_WORDS: Final[dict[str, frozenset[str]]] = {
    "de": frozenset(_GERMAN.split()),
    "en": frozenset(_ENGLISH.split()),
    "es": frozenset(_SPANISH.split()),
    "fr": frozenset(_FRENCH.split()),
    "it": frozenset(_ITALIAN.split()),
    "pt": frozenset(_PORTUGUESE.split()),
}
"""Function words by ISO 639-1 code, lower case, without accents."""


@lru_cache(maxsize=32)
def stop_words(languages: tuple[str, ...]) -> frozenset[str]:
    """The function words of several languages together; a language without a list adds none."""
    return frozenset().union(*(STOP_WORDS.get(language, frozenset()) for language in languages))
