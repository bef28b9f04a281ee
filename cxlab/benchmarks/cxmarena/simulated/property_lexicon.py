"""Words that mean one property, as anybody who reads English, French or German knows them.

    find("measures 43 cm wide")    # {"width": (False, "wide")}: the property, whether by its plain name, the words

No brand is in it; simulated readers use it where the words of two sentences differ. A plain name ("width") is easier
to take than a turn of phrase ("wide").
"""

from __future__ import annotations

import functools
import re

# property: plain names | other ways to say it. A word stands for all that begin with it; German joins words, so that
# a part in the middle counts as well where it is written with a leading "*".
_TABLE = """
instalment: instalment, mensualité, *monatsrate | instalments, twelfth-part, financed, en trois fois, raten
fee: monthly fee, yearly, tarif mensuel, *gebühr | a month, per month, par mois, im monat, in advance, in a year
price: price, prix, preis | cost, costs, sells for, priced, pay, vendu, coûte, coûter, kostet, kosten, zahlen,
    charge a
delivery cost: delivery charge, charge for, frais, *versandgebühr, versandkosten | postage, facturé, berechnen
free from: threshold, seuil, *freigrenze | waive, is free, upwards, offert, gratis
deductible: selbstbehalt, *selbstbeteiligung |
voucher: voucher, chèque, *gutschein | bon d'achat
spend: spend | spends
battery life: battery life, running time, autonomie, *laufzeit, *betriebszeit | battery, runs for, läuft, hält,
    expect, going, fonctionne
battery size: battery capacity, *akkukapazität | akku
charging time: charging time, temps de charge, *ladezeit, *ladedauer | charging, charger, zu laden,  recharging,
    charger, aufgeladen, geladen
fitting time: fitting, installation, assembly, montage, *aufbauzeit | mounting, fitted, assembling, monter, aufbau
reset time: reset, temps d'appui, *tastenzeit, neustart | button, taste, appuyez, starte ich, startet neu
weight: weight, poids, masse, gewicht | weigh, heavy, schwer, lourd, weighs, scales, pèse, wiegt
most weight: weight limit, greatest weight | may weigh
width: width, largeur, breite | wide, across, edge to edge
height: height, hauteur, höhe | de haut, high, hoch
screen: diagonal, *bilddiagonale | bildschirm, screen, anzeige
length: length, longueur, *kabellänge | kabel, cable
power: power, puissance, *leistung | draws, demand, leistet, lädt mit
standby: standby | idle, in standby
storage: storage capacity, capacity, contenance, *speicher | store, stores, contient
data: data volume, *datenvolumen | surfen
range: range, portée, *reichweite | reach, reicht
area: area, coverage, surface, *fläche | cover, covers, étend
warranty: warranty, guarantee, garant | guaranteed
noise: noise, bruit, lautstärke, geräusch | loud, louder, quiet, laut
brightness: brightness, luminosité, helligkeit | bright, hell, light output, glows, shines, leuchtet
camera: camera, *kamera | megapixel
recycled: recycled, recyclé, *recycling | recyclage
natural: naturelle, natural | composants naturels
saving: saving | save, saves, cuts
discount: discount, remise, rabatt | reduction, réduction, nachlass, off
deduction: deduction, retenue, abzug, *abzugsquote | deduct, abgezogen
spare parts: spare parts, pièces, *ersatzteil |
updates: software support, *update | security
start of sale: launch, lancement, *verkaufsstart | on sale, en vente, im verkauf, depuis quand
date: date, datum | began, took place, commencé, begann
opening: opening time, ouverture, *öffnung | open, opens, doors, ouvre, öffnet
closing: closing time, fermeture, *schließzeit | close, closes, last call, ferme, schließt
cut-off: cut-off, heure limite, annahme | leave the same day, commandez avant
term: minimum term, engagement, *mindestlaufzeit | commit, engage, binden
notice: notice period, préavis, *kündigungsfrist | of notice, cancelled, résilie, kündbar
response: response time, délai de réponse, *reaktionszeit | reply, answer, répond, antwort, respond, répondons,
    antworten, reagieren
visits: visits, besuche, visites |
delivery time: delivery time, délai de livraison, *lieferzeit | arrive, take, from dispatch, livraison prend,
    zugestellt
return window: return window, délai de retour, *rückgabefrist | send back, renvoyer, zurücksenden
refund time: refund, remboursement, *erstattung | money is back, remboursée, geld ist
retention: retention, durée de garde, *aufbewahrung | kept for, stored for, conservées, gespeichert
handling: reply time, délai de traitement, *bearbeitung | requests, request, demande, anfragen
points: points, punkte, *punktzahl | earn, cumul, sammel
people: participants, attendance, *teilnehmer | people, personnes, menschen
parking: parking |
after opening: durée après ouverture, after opening, une fois ouvert, après ouverture, entamé, *anbrechen | once
    open, angebrochen
shelf life: shelf life, durée de garde au placard, *haltbarkeit | placard, haltbar, shelf
lasting: tenue, staying power | tient
exposure: temps de pose | agir
storing: storage temperature, température de garde | at what temperature, température, au frais, store
duration: durée, duration | dure, takes
material: housing, matière, *gehäuse, material, frame, cadre, rahmen, outer material, upper, dessus,
    *obermaterial, bois, holz | made of, woraus, en quoi, made from, est fait, est en, gefertigt, besteht
colour: colour, color, couleur, farbe, *farbe | farbton, finish
compatibility: compatib, *kompatib, type de peau | work with, works with, convient, destiné, wozu, pairs with,
    passt zu, verträgt
scent: note dominante | sillage, évoque
load: load, charge admise, charge supportée, *belastung, zulässige last | bears, carries, carry, porte, belasten, last
gears: gears, vitesses, gänge |
wheel: wheel size, *laufradgröße | wheels, laufräder
inspection: inspection, révision, durchsicht |
fit: width fit, weite | cut, coupe, geschnitten
wearing in: wearing-in, rodage, *einlaufzeit | worn in, rodé, eingelaufen
washing: washing temperature, température de lavage | washed, se lave
net weight: net weight, poids net, *füllmenge | a pack of, un paquet de, eine packung
origin: origin, origine, *herkunft | come from, récolte, rohware
organic: organic, part bio, *bioanteil |
players: players, joueurs, *spielerzahl | spielen
age: age, âge, alter |
round: playing time, durée de partie, dauer einer partie | round, partie
pieces: number of pieces, quantité de pièces, zahl der teile | pieces, teile
oiling: oiling, rythme d'huilage, *ölabstand | oil, huilez, ölen
screens: number of screens, nombre d'écrans, zahl der bildschirme | screens, écrans, bildschirmen
profiles: profiles, profils, profile |
trial: trial period, essai gratuit, *probezeit | tried free, s'essaye, proben
offline: offline, hors ligne, ohne netz | downloads
sum insured: sum insured, plafond, *versicherungssumme | covers up to, couvre jusqu, deckt bis
own share: excess, franchise, *eigenanteil | bear yourself
reporting: reporting period, délai de déclaration, *meldefrist | report a loss, déclar, melden
payout: payout time, délai d'indemnité, *auszahlungszeit | paid out, indemnisé, ausgezahlt
waiting: waiting period, carence, *wartezeit | waiting
unlocking: starting fee, frais de déblocage, *startgebühr | unlocking, débloquer, entsperren
per minute: price a minute, prix à la minute, *minutenpreis | a minute, la minute, je minute
reservation: reservation time, temps de réservation, *reservierungszeit | reserved, réserve, reservieren
deposit: deposit, caution, kaution |
founding: founding year, année de fondation, *gründungsjahr |
"""

# Those of them whose values are words.
WORDED = frozenset({"material", "colour", "compatibility", "scent", "fit", "origin"})


@functools.cache
def _patterns() -> list[tuple[str, re.Pattern[str], re.Pattern[str] | None]]:
    found = []
    # A line that is indented goes on with the one before.
    for line in _TABLE.strip().replace("\n    ", " ").splitlines():
        name, _, rest = line.partition(": ")
        plain, _, other = rest.partition("|")
        found.append((name, _pattern(plain), _pattern(other) if other.strip() else None))
    return found


def _pattern(listed: str) -> re.Pattern[str]:
    parts = [part.strip() for part in listed.split(",") if part.strip()]
    return re.compile("|".join(re.escape(p[1:]) if p[0] == "*" else rf"\b{re.escape(p)}" for p in parts))


@functools.lru_cache(maxsize=50_000)
def find(text: str) -> dict[str, tuple[bool, str]]:
    """The properties that the words may mean: whether by their plain name, and the words; turns of phrase count only
    where no plain name was said.
    """
    low = text.lower().replace("’", "'")
    plain = {name: match for name, pattern, _ in _patterns() if (match := _longest(pattern, low))}
    if plain:
        # "Battery capacity" holds "capacity": what is inside another name is dropped.
        spans = {name: match.span() for name, match in plain.items()}
        return {
            name: (True, plain[name][0])
            for name, (start, end) in spans.items()
            if not any(s <= start and end <= e and (s, e) != (start, end) for s, e in spans.values())
        }
    turns = ((name, pattern.search(low)) for name, _, pattern in _patterns() if pattern is not None)
    return {name: (False, match[0]) for name, match in turns if match}


def _longest(pattern: re.Pattern[str], text: str) -> re.Match[str] | None:
    return max(pattern.finditer(text), key=lambda match: match.end() - match.start(), default=None)
