# ruff: noqa: E501 - a paper is a line
"""Papers and lists of categories of our own, to calibrate and to measure categories on.

``PAPERS`` calibrate; the example archive, with ``ARCHIVE``, measures. Nothing of one is in the
other, and the two lists of categories differ.
"""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["ARCHIVE", "ARCHIVE_LIST", "LIST", "PAPERS", "Listed", "Paper"]


@dataclass(frozen=True, slots=True)
class Listed:
    """A category in Italian and in English, with a description and an example in each."""

    key: str
    names: tuple[str, str]
    descriptions: tuple[str, str]
    examples: tuple[str, str]


@dataclass(frozen=True, slots=True)
class Paper:
    """A paper and the keys of the categories that its owner would give it."""

    language: str
    text: str
    keys: frozenset[str]


LIST = (
    Listed("music", ("Musica", "Music"), ("strumenti, concerti, lezioni", "instruments, concerts, lessons"),
           ("Spartito per pianoforte", "A score for the piano")),
    Listed("bank", ("Banca", "Banking"), ("conti, carte, mutui", "accounts, cards, mortgages"),
           ("Estratto conto di marzo", "Account statement of March")),
    Listed("bicycle", ("Bicicletta", "Bicycle"), ("riparazioni e gite in bici", "repairs and rides"),
           ("Revisione della bici da corsa", "Service of the road bike")),
    Listed("energy", ("Luce e gas", "Electricity and gas"), ("bollette e contratti di energia", "energy bills and contracts"),
           ("Bolletta del gas del bimestre", "Gas bill of the quarter")),
    Listed("doctor", ("Medici", "Doctors"), ("visite, esami, ricette mediche", "visits, tests, prescriptions"),
           ("Esami del sangue", "Blood test results")),
    Listed("language", ("Corsi di lingua", "Language courses"), ("lezioni ed esami di lingue straniere", "lessons and exams of foreign languages"),
           ("Appunti di grammatica tedesca", "Notes on German grammar")),
    Listed("bees", ("Apicoltura", "Beekeeping"), ("arnie, miele, sciami", "hives, honey, swarms"),
           ("Visita alle arnie di aprile", "Inspection of the hives in April")),
    Listed("boat", ("Barca", "Boat"), ("vela, ormeggio, manutenzione", "sailing, mooring, upkeep"),
           ("Contratto di ormeggio", "Mooring agreement")),
    Listed("children", ("Figli e asilo", "Children and nursery"), ("scuola dell'infanzia, pediatra, giochi", "nursery school, toys, outings"),
           ("Iscrizione all'asilo nido", "Registration for the nursery")),
    Listed("legal", ("Avvocato", "Lawyer"), ("cause, diffide, pareri legali", "lawsuits, notices, legal advice"),
           ("Diffida al vicino", "Formal notice to the neighbour")),
    Listed("knitting", ("Lavoro a maglia", "Knitting"), ("schemi e filati", "patterns and yarn"),
           ("Schema per un berretto", "A pattern for a hat")),
    Listed("volunteering", ("Volontariato", "Volunteering"), ("turni e riunioni dell'associazione", "shifts and meetings of the charity"),
           ("Turni alla mensa", "Shifts at the soup kitchen")),
)  # fmt: skip

_IT = (
    ("music", "Conferma dell'iscrizione al corso di violino per adulti. Le lezioni si tengono il martedì sera nella sala prove del conservatorio. L'archetto si può noleggiare per sei euro al mese."),
    ("music", "Programma del concerto di primavera: un quartetto per archi, due canzoni popolari e un valzer. Prove generali venerdì alle 20. Il coro entra dopo l'intervallo."),
    ("bank", "La informiamo che il tasso del suo mutuo cambia dal primo luglio. La nuova rata è di 612 euro. Il piano di ammortamento aggiornato è in allegato."),
    ("bank", "Conferma di apertura del conto corrente. La carta di debito arriva entro dieci giorni, il codice PIN in una busta a parte. Il canone è di due euro al mese."),
    ("bicycle", "Preventivo dell'officina: sostituzione della catena e del pacco pignoni, centratura della ruota posteriore, nuovi pattini dei freni. Totale 96 euro. La bicicletta è pronta sabato."),
    ("bicycle", "Giro del lago: 62 chilometri, tre salite brevi, una fontana a metà strada. Forature: una, sulla ghiaia. Da portare la prossima volta una camera d'aria di scorta."),
    ("energy", "Comunicazione del fornitore: il prezzo della materia gas per il prossimo trimestre sale a 0,52 euro al metro cubo. La lettura del contatore va inviata entro il giorno 25."),
    ("energy", "Bolletta della luce di novembre. Consumo 210 kWh, potenza impegnata 3 kW, importo 58,20 euro con addebito diretto. Nessun conguaglio."),
    ("doctor", "Referto della radiografia del polso: nessuna frattura, lieve edema dei tessuti molli. Si consiglia riposo per dieci giorni e controllo dal medico curante."),
    ("doctor", "Ricetta del dermatologo: una crema da applicare due volte al giorno per tre settimane. Il prossimo controllo è a giugno. Evitare il sole nelle ore centrali."),
    ("language", "Esito dell'esame di tedesco, livello B1. Lettura 78, ascolto 64, scrittura 71, orale 80. Il certificato si ritira in segreteria."),
    ("language", "Vocaboli della settimana per il corso di portoghese: mezzi di trasporto, stagioni, verbi irregolari al passato. Compito: dieci frasi sul fine settimana."),
    ("bees", "Visita del 3 maggio: sette telaini di covata, la regina è stata vista, posato il melario. Trattamento contro la varroa da ripetere in agosto."),
    ("bees", "Smielatura: 41 chili di acacia da tre arnie. I vasetti da mezzo chilo sono finiti. Uno sciame è stato recuperato dal melo del vicino."),
    ("boat", "Fattura del cantiere nautico per l'alaggio, la pulizia della carena e due mani di antivegetativa. La barca torna in acqua il 12 aprile."),
    ("boat", "Uscita di domenica: vento da nord-ovest a 14 nodi, randa con una mano di terzaroli, rientro in porto alle 17. Il motore ausiliario fatica a partire."),
    ("children", "La scuola dell'infanzia comunica che venerdì i bambini andranno alla fattoria. Portare stivali, un cambio e la merenda. Rientro alle 15."),
    ("children", "Menù dell'asilo per il mese di marzo e calendario delle chiusure. I genitori dei piccoli sono invitati al colloquio con le educatrici."),
    ("legal", "Lo studio legale trasmette la bozza dell'atto di citazione contro l'impresa. La prima udienza davanti al tribunale è fissata per il 9 ottobre."),
    ("legal", "Parere sulla servitù di passaggio: secondo il codice civile il vicino non può chiudere il cancello. Si suggerisce una diffida formale prima della causa."),
    ("knitting", "Schema della sciarpa a trecce: avviare 42 maglie, ferri numero 5, quattro gomitoli di lana merino. Incrociare ogni otto ferri."),
    ("knitting", "Calzini taglia 38: tallone a clessidra, 64 maglie in tondo sul gioco di ferri, punta chiusa a punto maglia. Filato residuo: 30 grammi."),
    ("volunteering", "Turni dei volontari al banco alimentare per maggio. Chi non può venire avvisi la coordinatrice. La riunione dell'associazione è il secondo lunedì."),
    ("", "Le regole del torneo di scacchi: sette turni, quindici minuti a testa, spareggio per punti. Iscrizione entro giovedì al bar del circolo."),
    ("", "Come si stampa in camera oscura: esposizione di prova, sviluppo a venti gradi, arresto, fissaggio. Le copie lavate si asciugano su una rete."),
    ("", "Relazione sui lavori alla frana della strada provinciale: palificata, drenaggi, riapertura a senso unico alternato prevista in novembre."),
    ("", "Catalogo dei minerali della collezione: quarzo affumicato, fluorite verde, pirite, malachite. Provenienza, peso e data di acquisto di ogni pezzo."),
)  # fmt: skip
_EN = (
    ("music", "The choir rehearses on Thursdays from January. Sopranos please learn the second movement. The accordion that was lent to the trio must be back before the concert."),
    ("music", "Receipt for the repair of a clarinet: new pads, cork and a check of the keys. Ready on Friday, 85 pounds. The case was not repaired."),
    ("bank", "Your credit card statement is ready. The balance of 412 pounds will be collected from your current account on the 14th. The minimum payment is 25 pounds."),
    ("bank", "We confirm that your savings account was moved to the new branch. The interest rate stays at 2.1 per cent until December."),
    ("bicycle", "Notes on building the touring bike: steel frame, 36 spokes, wide tyres, bar-end shifters. The bottom bracket is of an Italian thread. Paint it green."),
    ("bicycle", "Your bike is due for its yearly service. We check brakes, gears and wheels, and true the rims. A tube and cables are included."),
    ("energy", "Your electricity tariff ends in March. If you do nothing, you move to the standard rate of 31 pence per kWh. Send us a meter reading to avoid an estimate."),
    ("energy", "Gas boiler and meter: safety check of the supply was done on 4 October. Consumption this winter was 1,240 kWh above the last one."),
    ("doctor", "Discharge letter: the patient was treated for pneumonia with antibiotics and may go home. Chest x-ray in six weeks. Blood pressure 130 over 80."),
    ("doctor", "Your appointment at the eye clinic is on 3 June. Bring your glasses and a list of medicines. You cannot drive for four hours after the drops."),
    ("language", "Your place in the evening course French for beginners is confirmed. The textbook costs 28 pounds. Lessons start on the 9th with the present tense."),
    ("language", "Flash cards for the Spanish exam: subjunctive after expressions of doubt, irregular verbs, false friends, polite requests."),
    ("bees", "The swarm was taken from the chimney at noon and hived in the blue box. Feed sugar syrup for a week. Queen cells were left in the second colony."),
    ("bees", "Honey show results: second prize for the dark heather honey. The judges found the beeswax candles too soft. Extractor to be returned."),
    ("boat", "Survey of the sloop Kittiwake: hull sound, standing rigging to be replaced within two years, seacock of the galley seized. Insured value unchanged."),
    ("boat", "The harbour master writes that moorings are allotted anew in April. Yachts above nine metres pay a supplement. The slipway is closed in May."),
    ("children", "The nursery is closed on Monday for training of the staff. Toddlers need a sun hat and a named water bottle. Drawings can be taken home."),
    ("children", "Birthday party of the five-year-olds: treasure hunt in the park, cake at four, a puppet show. Twelve children, two of whom eat no nuts."),
    ("legal", "We act for the landlord and require you to remove the fence within fourteen days, failing which our client will start proceedings in the county court."),
    ("legal", "Our solicitor's advice: the clause is unenforceable, and a claim for damages has fair chances. Fees for the first hearing are estimated at 900 pounds."),
    ("knitting", "Fair Isle jumper: cast on 220 stitches, two-colour yoke, steek for the neck. Yarn: four shades of Shetland wool. Block it wet."),
    ("knitting", "Swatch notes: 22 stitches and 30 rows to ten centimetres on 4 mm needles. The cotton yarn stretches; go down a size for the cuffs."),
    ("volunteering", "Thank you for helping at the charity shop. The rota for the autumn is attached; new volunteers are shown round on Saturday by the coordinator."),
    ("volunteering", "Minutes of the food bank's committee: donations are up by a tenth, drivers are needed on Wednesdays, the grant from the council was renewed."),
    ("", "Rules of the village quiz: eight rounds, teams of four, no telephones. The picture round is worth double. The winner sets the next quiz."),
    ("", "How the dry stone wall was rebuilt: foundation stones, hearting, through stones at knee height, cope. Six metres took the two of us four days."),
    ("", "Star party: Saturn sets early, the Perseids peak after midnight. Bring a red torch. The eyepieces are shared; dew heaters need twelve volts."),
    ("", "List of pottery glazes that were tested: celadon on stoneware, ash from the apple prunings, a tin white that crawled. Cone nine in reduction."),
)  # fmt: skip

PAPERS = tuple(
    Paper(language, text, frozenset(key.split()))
    for language, papers in (("it", _IT), ("en", _EN))
    for key, text in papers
)

ARCHIVE_LIST = (
    Listed("home", ("Casa e affitto", "Home and rent"), ("contratto d'affitto, condominio, lavori in casa", "lease, rent, repairs of the flat"),
           ("Ricevuta del canone di locazione", "Deposit of a flat")),
    Listed("bills", ("Bollette e telefono", "Bills and phone"), ("energia elettrica, telefono, contratti di fornitura", "electricity, phone, supply contracts"),
           ("Bolletta della luce", "Mobile phone contract")),
    Listed("health", ("Salute", "Health"), ("visite, referti, dentista", "visits, medical reports, dentist"),
           ("Referto di una visita specialistica", "Physiotherapy report")),
    Listed("insurance", ("Assicurazioni", "Insurance"), ("polizze", "policies"),
           ("Polizza della casa", "Travel insurance policy")),
    Listed("work", ("Lavoro", "Work"), ("contratti di lavoro, curriculum, progetti", "employment, CV, projects"),
           ("Contratto di assunzione", "Kick-off of a project")),
    Listed("travel", ("Viaggi", "Travel"), ("prenotazioni, biglietti, alberghi", "bookings, tickets, hotels"),
           ("Prenotazione del traghetto", "Ferry and hotel booking")),
    Listed("cooking", ("Ricette", "Recipes"), ("cucina e pane", "cooking and bread"),
           ("Torta al limone", "Sourdough loaf")),
    Listed("car", ("Automobile", "Car"), ("officina, revisione, parcheggio", "garage, inspection, parking"),
           ("Tagliando e cambio gomme", "Parking permit")),
    Listed("pets", ("Animali domestici", "Pets"), ("veterinario, vaccini", "vet, vaccinations"),
           ("Libretto sanitario del gatto", "Vaccination of the cat")),
    Listed("garden", ("Orto e giardino", "Garden"), ("semine e raccolti", "sowing and harvest"),
           ("Semina dei pomodori", "Tomatoes in the vegetable patch")),
    Listed("school", ("Scuola", "School"), ("circolari, gite, pagelle", "circulars, trips, reports"),
           ("Gita della classe", "Trip of the class")),
    Listed("taxes", ("Tasse", "Taxes"), ("dichiarazione dei redditi, detrazioni", "tax return, deductions"),
           ("Modello 730", "Tax return and deductions")),
    Listed("wedding", ("Matrimonio", "Wedding"), ("invitati, cerimonia, bomboniere", "guests, ceremony, flowers"),
           ("Lista degli invitati alle nozze", "Guest list of the wedding")),
    Listed("football", ("Calcio", "Football"), ("partite e allenamenti", "matches and training"),
           ("Calendario del campionato", "Fixtures of the league")),
    Listed("investments", ("Investimenti", "Investments"), ("azioni, fondi, dividendi", "shares, funds, dividends"),
           ("Rendiconto del fondo azionario", "Dividend of the share fund")),
    Listed("photography", ("Fotografia", "Photography"), ("macchine fotografiche e stampe", "cameras and prints"),
           ("Obiettivo da 50 mm", "A lens of 50 mm")),
)  # fmt: skip

# What each document of the example archive belongs to; behind a stroke, what may be said as well.
ARCHIVE = {
    "appunti-dichiarazione-redditi.md": "taxes/health",
    "bank-transfer-confirmation.png": "/home bills",
    "book-club-minutes.txt": "/",
    "certificato-vaccinazione-briciola.tiff": "pets/health",
    "circolare-gita-grotte.docx": "school/travel",
    "comitato-piazza-dei-gelsi.pptx": "/garden work car",
    "contratto-locazione-via-glicini.pdf": "home/",
    "contratto-lumenar-casa-serena.pdf": "bills/home",
    "council-letter-parking-permit.pdf": "car/",
    "cv-owen-tarrack.docx": "work/",
    "diario-dell-orto-2023.txt": "garden/",
    "email-deposit-heron-court.eml": "home/",
    "email-mum-birthday.eml": "/travel",
    "employment-contract-quillstone.docx": "work/",
    "fattura-lumenar-2024-03.pdf": "bills/",
    "fattura-lumenar-2024-04.pdf": "bills/",
    "fattura-studio-dentistico.png": "health/bills",
    "fax-notary-power-of-attorney.tiff": "/health",
    "garanzia-lavatrice-norvane.html": "/home insurance",
    "heron-court-bathroom-budget.xlsx": "home/work",
    "home-inventory.csv": "/home insurance",
    "invoice-brackenfell-2024-02.pdf": "/bills home",
    "invoice-brackenfell-2024-03.pdf": "/bills home",
    "language-exchange-notes.md": "/school",
    "lettera-amministratore-tetto.pdf": "home/",
    "norvane-w740-manual.pdf": "/home",
    "physiotherapy-report-shoulder.pdf": "health/",
    "polizza-casa-ala-protetta.pdf": "insurance/home",
    "preventivo-scaldabagno.eml": "home/",
    "project-heron-kickoff.pptx": "work/cooking",
    "receipt-bookshop.jpg": "/",
    "referto-visita-cardiologica.pdf": "health/",
    "registro-manutenzione-auto.csv": "car/",
    "ricette-di-nonna-adalgisa.md": "cooking/",
    "ricevuta-canone-2024-04.pdf": "home/",
    "ricevuta-canone-2024-05.pdf": "home/",
    "scontrino-ferramenta.jpg": "/home",
    "skylarke-mobile-agreement.pdf": "bills/",
    "sourdough-notebook.md": "cooking/",
    "spese-famiglia-2024.xlsx": "/home bills health taxes",
    "summer-trip-booking.html": "travel/",
    "travel-insurance-harbourline.pdf": "insurance travel/",
    "verbale-assemblea-condominio-2024.docx": "home/",
}
