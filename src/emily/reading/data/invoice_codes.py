"""The codes of the Italian electronic invoice and what they stand for.

Source: technical specification of the FatturaPA format, version 1.2.2 and its additions up to
1.9 of the rules for the Sistema di Interscambio (Agenzia delle Entrate).
"""

from __future__ import annotations

__all__ = [
    "CODES",
    "DOCUMENTS",
    "FORMATS",
]

FORMATS = {
    "FPR12": "verso privati",
    "FPA12": "verso la pubblica amministrazione",
    "FSM10": "semplificata",
    "SDI10": "verso la pubblica amministrazione",
    "SDI11": "verso la pubblica amministrazione",
}
"""``FormatoTrasmissione``, or the attribute ``versione``."""

DOCUMENTS = {
    "TD01": "Fattura",
    "TD02": "Acconto/anticipo su fattura",
    "TD03": "Acconto/anticipo su parcella",
    "TD04": "Nota di credito",
    "TD05": "Nota di debito",
    "TD06": "Parcella",
    "TD07": "Fattura semplificata",
    "TD08": "Nota di credito semplificata",
    "TD09": "Nota di debito semplificata",
    "TD10": "Fattura di acquisto intracomunitario beni",
    "TD11": "Fattura di acquisto intracomunitario servizi",
    "TD12": "Documento riepilogativo (art. 6, DPR 695/1996)",
    "TD16": "Integrazione fattura reverse charge interno",
    "TD17": "Integrazione/autofattura per acquisto servizi dall'estero",
    "TD18": "Integrazione per acquisto di beni intracomunitari",
    "TD19": "Integrazione/autofattura per acquisto di beni ex art. 17 c. 2 DPR 633/72",
    "TD20": "Autofattura per regolarizzazione e integrazione delle fatture",
    "TD21": "Autofattura per splafonamento",
    "TD22": "Estrazione beni da deposito IVA",
    "TD23": "Estrazione beni da deposito IVA con versamento dell'IVA",
    "TD24": "Fattura differita di cui all'art. 21, comma 4, lett. a)",
    "TD25": "Fattura differita di cui all'art. 21, comma 4, terzo periodo lett. b)",
    "TD26": "Cessione di beni ammortizzabili e per passaggi interni",
    "TD27": "Fattura per autoconsumo o per cessioni gratuite senza rivalsa",
    "TD28": "Acquisti da San Marino con IVA (fattura cartacea)",
    "TD29": "Comunicazione per omessa o irregolare fatturazione",
}
"""``TipoDocumento``."""

_REGIMES = {
    "RF01": "Ordinario",
    "RF02": "Contribuenti minimi",
    "RF03": "Nuove iniziative produttive",
    "RF04": "Agricoltura e attività connesse e pesca",
    "RF05": "Vendita sali e tabacchi",
    "RF06": "Commercio fiammiferi",
    "RF07": "Editoria",
    "RF08": "Gestione servizi telefonia pubblica",
    "RF09": "Rivendita documenti di trasporto pubblico e di sosta",
    "RF10": "Intrattenimenti, giochi e altre attività",
    "RF11": "Agenzie viaggi e turismo",
    "RF12": "Agriturismo",
    "RF13": "Vendite a domicilio",
    "RF14": "Rivendita beni usati, oggetti d'arte, d'antiquariato o da collezione",
    "RF15": "Agenzie di vendite all'asta di oggetti d'arte, antiquariato o da collezione",
    "RF16": "IVA per cassa P.A.",
    "RF17": "IVA per cassa",
    "RF18": "Altro",
    "RF19": "Regime forfettario",
    "RF20": "Transfrontaliero di franchigia IVA",
}

_NATURES = {
    "N1": "escluse ex art. 15",
    "N2": "non soggette",
    "N2.1": "non soggette ad IVA ai sensi degli artt. da 7 a 7-septies del DPR 633/72",
    "N2.2": "non soggette, altri casi",
    "N3": "non imponibili",
    "N3.1": "non imponibili, esportazioni",
    "N3.2": "non imponibili, cessioni intracomunitarie",
    "N3.3": "non imponibili, cessioni verso San Marino",
    "N3.4": "non imponibili, operazioni assimilate alle cessioni all'esportazione",
    "N3.5": "non imponibili, a seguito di dichiarazioni d'intento",
    "N3.6": "non imponibili, altre operazioni che non concorrono al plafond",
    "N4": "esenti",
    "N5": "regime del margine / IVA non esposta in fattura",
    "N6": "inversione contabile",
    "N6.1": "inversione contabile, cessione di rottami e altri materiali di recupero",
    "N6.2": "inversione contabile, cessione di oro e argento",
    "N6.3": "inversione contabile, subappalto nel settore edile",
    "N6.4": "inversione contabile, cessione di fabbricati",
    "N6.5": "inversione contabile, cessione di telefoni cellulari",
    "N6.6": "inversione contabile, cessione di prodotti elettronici",
    "N6.7": "inversione contabile, prestazioni comparto edile e settori connessi",
    "N6.8": "inversione contabile, operazioni settore energetico",
    "N6.9": "inversione contabile, altri casi",
    "N7": "IVA assolta in altro stato UE",
}

_PAYMENTS = {
    "MP01": "Contanti",
    "MP02": "Assegno",
    "MP03": "Assegno circolare",
    "MP04": "Contanti presso Tesoreria",
    "MP05": "Bonifico",
    "MP06": "Vaglia cambiario",
    "MP07": "Bollettino bancario",
    "MP08": "Carta di pagamento",
    "MP09": "RID",
    "MP10": "RID utenze",
    "MP11": "RID veloce",
    "MP12": "RIBA",
    "MP13": "MAV",
    "MP14": "Quietanza erario",
    "MP15": "Giroconto su conti di contabilità speciale",
    "MP16": "Domiciliazione bancaria",
    "MP17": "Domiciliazione postale",
    "MP18": "Bollettino di c/c postale",
    "MP19": "SEPA Direct Debit",
    "MP20": "SEPA Direct Debit CORE",
    "MP21": "SEPA Direct Debit B2B",
    "MP22": "Trattenuta su somme già riscosse",
    "MP23": "PagoPA",
}

_FUNDS = {
    "TC01": "Cassa nazionale previdenza e assistenza avvocati e procuratori legali",
    "TC02": "Cassa previdenza dottori commercialisti",
    "TC03": "Cassa previdenza e assistenza geometri",
    "TC04": "Cassa nazionale previdenza e assistenza ingegneri e architetti liberi professionisti",
    "TC05": "Cassa nazionale del notariato",
    "TC06": "Cassa nazionale previdenza e assistenza ragionieri e periti commerciali",
    "TC07": "Ente nazionale assistenza agenti e rappresentanti di commercio (ENASARCO)",
    "TC08": "Ente nazionale previdenza e assistenza consulenti del lavoro (ENPACL)",
    "TC09": "Ente nazionale previdenza e assistenza medici (ENPAM)",
    "TC10": "Ente nazionale previdenza e assistenza farmacisti (ENPAF)",
    "TC11": "Ente nazionale previdenza e assistenza veterinari (ENPAV)",
    "TC12": "Ente nazionale previdenza e assistenza impiegati dell'agricoltura (ENPAIA)",
    "TC13": "Fondo previdenza impiegati imprese di spedizione e agenzie marittime",
    "TC14": "Istituto nazionale previdenza giornalisti italiani (INPGI)",
    "TC15": "Opera nazionale assistenza orfani sanitari italiani (ONAOSI)",
    "TC16": "Cassa autonoma assistenza integrativa giornalisti italiani (CASAGIT)",
    "TC17": "Ente previdenza periti industriali e periti industriali laureati (EPPI)",
    "TC18": "Ente previdenza e assistenza pluricategoriale (EPAP)",
    "TC19": "Ente nazionale previdenza e assistenza biologi (ENPAB)",
    "TC20": "Ente nazionale previdenza e assistenza professione infermieristica (ENPAPI)",
    "TC21": "Ente nazionale previdenza e assistenza psicologi (ENPAP)",
    "TC22": "INPS",
}

CODES: dict[str, dict[str, str]] = {
    "RegimeFiscale": _REGIMES,
    "Natura": _NATURES,
    "ModalitaPagamento": _PAYMENTS,
    "TipoCassa": _FUNDS,
    "CondizioniPagamento": {
        "TP01": "Pagamento a rate",
        "TP02": "Pagamento completo",
        "TP03": "Anticipo",
    },
    "TipoRitenuta": {
        "RT01": "Ritenuta persone fisiche",
        "RT02": "Ritenuta persone giuridiche",
        "RT03": "Contributo INPS",
        "RT04": "Contributo ENASARCO",
        "RT05": "Contributo ENPAM",
        "RT06": "Altro contributo previdenziale",
    },
    "EsigibilitaIVA": {
        "I": "esigibilità immediata",
        "D": "esigibilità differita",
        "S": "scissione dei pagamenti",
    },
    "TipoCessionePrestazione": {
        "SC": "Sconto",
        "PR": "Premio",
        "AB": "Abbuono",
        "AC": "Spesa accessoria",
    },
    "Tipo": {"SC": "Sconto", "MG": "Maggiorazione"},
    "SocioUnico": {"SU": "socio unico", "SM": "più soci"},
    "StatoLiquidazione": {"LS": "in liquidazione", "LN": "non in liquidazione"},
    "SoggettoEmittente": {"CC": "cessionario/committente", "TZ": "terzo"},
    "Art73": {"SI": "documento emesso secondo l'art. 73 del DPR 633/72"},
    "BolloVirtuale": {"SI": "bollo assolto in modo virtuale"},
}
"""Elements whose text is a code: what each code means."""
