// Source: the tz database, release 2025b. `zone.tab` has the country of each zone; `backward` has former zone names, which devices
// still report. Time zones of no country, such as `UTC`, are left out. Each line is an ISO 3166 code, followed by its zones, grouped
// by region.
const TABLE = `
ad Europe/Andorra
ae Asia/Dubai
af Asia/Kabul
ag America/Antigua
ai America/Anguilla
al Europe/Tirane
am Asia/Yerevan
ao Africa/Luanda
aq Antarctica/Casey,Davis,DumontDUrville,Mawson,McMurdo,Palmer,Rothera,South_Pole,Syowa,Troll,Vostok
ar America/Argentina/Buenos_Aires,Argentina/Catamarca,Argentina/ComodRivadavia,Argentina/Cordoba,Argentina/Jujuy,Argentina/La_Rioja,Argentina/Mendoza,Argentina/Rio_Gallegos,Argentina/Salta,Argentina/San_Juan,Argentina/San_Luis,Argentina/Tucuman,Argentina/Ushuaia,Buenos_Aires,Catamarca,Cordoba,Jujuy,Mendoza,Rosario
as Pacific/Pago_Pago,Samoa US/Samoa
at Europe/Vienna
au Antarctica/Macquarie Australia/ACT,Adelaide,Brisbane,Broken_Hill,Canberra,Currie,Darwin,Eucla,Hobart,LHI,Lindeman,Lord_Howe,Melbourne,NSW,North,Perth,Queensland,South,Sydney,Tasmania,Victoria,West,Yancowinna
aw America/Aruba
ax Europe/Mariehamn
az Asia/Baku
ba Europe/Sarajevo
bb America/Barbados
bd Asia/Dacca,Dhaka
be Europe/Brussels
bf Africa/Ouagadougou
bg Europe/Sofia
bh Asia/Bahrain
bi Africa/Bujumbura
bj Africa/Porto-Novo
bl America/St_Barthelemy
bm Atlantic/Bermuda
bn Asia/Brunei
bo America/La_Paz
bq America/Kralendijk
br America/Araguaina,Bahia,Belem,Boa_Vista,Campo_Grande,Cuiaba,Eirunepe,Fortaleza,Maceio,Manaus,Noronha,Porto_Acre,Porto_Velho,Recife,Rio_Branco,Santarem,Sao_Paulo Brazil/Acre,DeNoronha,East,West
bs America/Nassau
bt Asia/Thimbu,Thimphu
bw Africa/Gaborone
by Europe/Minsk
bz America/Belize
ca America/Atikokan,Blanc-Sablon,Cambridge_Bay,Coral_Harbour,Creston,Dawson,Dawson_Creek,Edmonton,Fort_Nelson,Glace_Bay,Goose_Bay,Halifax,Inuvik,Iqaluit,Moncton,Montreal,Nipigon,Pangnirtung,Rainy_River,Rankin_Inlet,Regina,Resolute,St_Johns,Swift_Current,Thunder_Bay,Toronto,Vancouver,Whitehorse,Winnipeg,Yellowknife Canada/Atlantic,Central,Eastern,Mountain,Newfoundland,Pacific,Saskatchewan,Yukon
cc Indian/Cocos
cd Africa/Kinshasa,Lubumbashi
cf Africa/Bangui
cg Africa/Brazzaville
ch Europe/Zurich
ci Africa/Abidjan
ck Pacific/Rarotonga
cl America/Coyhaique,Punta_Arenas,Santiago Chile/Continental,EasterIsland Pacific/Easter
cm Africa/Douala
cn /PRC Asia/Chongqing,Chungking,Harbin,Kashgar,Shanghai,Urumqi
co America/Bogota
cr America/Costa_Rica
cu /Cuba America/Havana
cv Atlantic/Cape_Verde
cw America/Curacao
cx Indian/Christmas
cy Asia/Famagusta,Nicosia Europe/Nicosia
cz Europe/Prague
de Europe/Berlin,Busingen
dj Africa/Djibouti
dk Europe/Copenhagen
dm America/Dominica
do America/Santo_Domingo
dz Africa/Algiers
ec America/Guayaquil Pacific/Galapagos
ee Europe/Tallinn
eg /Egypt Africa/Cairo
eh Africa/El_Aaiun
er Africa/Asmara,Asmera
es Africa/Ceuta Atlantic/Canary Europe/Madrid
et Africa/Addis_Ababa
fi Europe/Helsinki
fj Pacific/Fiji
fk Atlantic/Stanley
fm Pacific/Chuuk,Kosrae,Pohnpei,Ponape,Truk,Yap
fo Atlantic/Faeroe,Faroe
fr Europe/Paris
ga Africa/Libreville
gb /GB,GB-Eire Europe/Belfast,London
gd America/Grenada
ge Asia/Tbilisi
gf America/Cayenne
gg Europe/Guernsey
gh Africa/Accra
gi Europe/Gibraltar
gl America/Danmarkshavn,Godthab,Nuuk,Scoresbysund,Thule
gm Africa/Banjul
gn Africa/Conakry
gp America/Guadeloupe
gq Africa/Malabo
gr Europe/Athens
gs Atlantic/South_Georgia
gt America/Guatemala
gu Pacific/Guam
gw Africa/Bissau
gy America/Guyana
hk /Hongkong Asia/Hong_Kong
hn America/Tegucigalpa
hr Europe/Zagreb
ht America/Port-au-Prince
hu Europe/Budapest
id Asia/Jakarta,Jayapura,Makassar,Pontianak,Ujung_Pandang
ie /Eire Europe/Dublin
il /Israel Asia/Jerusalem,Tel_Aviv
im Europe/Isle_of_Man
in Asia/Calcutta,Kolkata
io Indian/Chagos
iq Asia/Baghdad
ir /Iran Asia/Tehran
is /Iceland Atlantic/Reykjavik
it Europe/Rome
je Europe/Jersey
jm /Jamaica America/Jamaica
jo Asia/Amman
jp /Japan Asia/Tokyo
ke Africa/Nairobi
kg Asia/Bishkek
kh Asia/Phnom_Penh
ki Pacific/Enderbury,Kanton,Kiritimati,Tarawa
km Indian/Comoro
kn America/St_Kitts
kp Asia/Pyongyang
kr /ROK Asia/Seoul
kw Asia/Kuwait
ky America/Cayman
kz Asia/Almaty,Aqtau,Aqtobe,Atyrau,Oral,Qostanay,Qyzylorda
la Asia/Vientiane
lb Asia/Beirut
lc America/St_Lucia
li Europe/Vaduz
lk Asia/Colombo
lr Africa/Monrovia
ls Africa/Maseru
lt Europe/Vilnius
lu Europe/Luxembourg
lv Europe/Riga
ly /Libya Africa/Tripoli
ma Africa/Casablanca
mc Europe/Monaco
md Europe/Chisinau,Tiraspol
me Europe/Podgorica
mf America/Marigot
mg Indian/Antananarivo
mh /Kwajalein Pacific/Kwajalein,Majuro
mk Europe/Skopje
ml Africa/Bamako,Timbuktu
mm Asia/Rangoon,Yangon
mn Asia/Choibalsan,Hovd,Ulaanbaatar,Ulan_Bator
mo Asia/Macao,Macau
mp Pacific/Saipan
mq America/Martinique
mr Africa/Nouakchott
ms America/Montserrat
mt Europe/Malta
mu Indian/Mauritius
mv Indian/Maldives
mw Africa/Blantyre
mx America/Bahia_Banderas,Cancun,Chihuahua,Ciudad_Juarez,Ensenada,Hermosillo,Matamoros,Mazatlan,Merida,Mexico_City,Monterrey,Ojinaga,Santa_Isabel,Tijuana Mexico/BajaNorte,BajaSur,General
my Asia/Kuala_Lumpur,Kuching
mz Africa/Maputo
na Africa/Windhoek
nc Pacific/Noumea
ne Africa/Niamey
nf Pacific/Norfolk
ng Africa/Lagos
ni America/Managua
nl Europe/Amsterdam
no Europe/Oslo
np Asia/Kathmandu,Katmandu
nr Pacific/Nauru
nu Pacific/Niue
nz /NZ,NZ-CHAT Pacific/Auckland,Chatham
om Asia/Muscat
pa America/Panama
pe America/Lima
pf Pacific/Gambier,Marquesas,Tahiti
pg Pacific/Bougainville,Port_Moresby
ph Asia/Manila
pk Asia/Karachi
pl /Poland Europe/Warsaw
pm America/Miquelon
pn Pacific/Pitcairn
pr America/Puerto_Rico
ps Asia/Gaza,Hebron
pt /Portugal Atlantic/Azores,Madeira Europe/Lisbon
pw Pacific/Palau
py America/Asuncion
qa Asia/Qatar
re Indian/Reunion
ro Europe/Bucharest
rs Europe/Belgrade
ru /W-SU Asia/Anadyr,Barnaul,Chita,Irkutsk,Kamchatka,Khandyga,Krasnoyarsk,Magadan,Novokuznetsk,Novosibirsk,Omsk,Sakhalin,Srednekolymsk,Tomsk,Ust-Nera,Vladivostok,Yakutsk,Yekaterinburg Europe/Astrakhan,Kaliningrad,Kirov,Moscow,Samara,Saratov,Ulyanovsk,Volgograd
rw Africa/Kigali
sa Asia/Riyadh
sb Pacific/Guadalcanal
sc Indian/Mahe
sd Africa/Khartoum
se Europe/Stockholm
sg /Singapore Asia/Singapore
sh Atlantic/St_Helena
si Europe/Ljubljana
sj Arctic/Longyearbyen Atlantic/Jan_Mayen
sk Europe/Bratislava
sl Africa/Freetown
sm Europe/San_Marino
sn Africa/Dakar
so Africa/Mogadishu
sr America/Paramaribo
ss Africa/Juba
st Africa/Sao_Tome
sv America/El_Salvador
sx America/Lower_Princes
sy Asia/Damascus
sz Africa/Mbabane
tc America/Grand_Turk
td Africa/Ndjamena
tf Indian/Kerguelen
tg Africa/Lome
th Asia/Bangkok
tj Asia/Dushanbe
tk Pacific/Fakaofo
tl Asia/Dili
tm Asia/Ashgabat,Ashkhabad
tn Africa/Tunis
to Pacific/Tongatapu
tr /Turkey Asia/Istanbul Europe/Istanbul
tt America/Port_of_Spain
tv Pacific/Funafuti
tw /ROC Asia/Taipei
tz Africa/Dar_es_Salaam
ua Europe/Kiev,Kyiv,Simferopol,Uzhgorod,Zaporozhye
ug Africa/Kampala
um Pacific/Johnston,Midway,Wake
us /Navajo America/Adak,Anchorage,Atka,Boise,Chicago,Denver,Detroit,Fort_Wayne,Indiana/Indianapolis,Indiana/Knox,Indiana/Marengo,Indiana/Petersburg,Indiana/Tell_City,Indiana/Vevay,Indiana/Vincennes,Indiana/Winamac,Indianapolis,Juneau,Kentucky/Louisville,Kentucky/Monticello,Knox_IN,Los_Angeles,Louisville,Menominee,Metlakatla,New_York,Nome,North_Dakota/Beulah,North_Dakota/Center,North_Dakota/New_Salem,Phoenix,Shiprock,Sitka,Yakutat Pacific/Honolulu US/Alaska,Aleutian,Arizona,Central,East-Indiana,Eastern,Hawaii,Indiana-Starke,Michigan,Mountain,Pacific
uy America/Montevideo
uz Asia/Samarkand,Tashkent
va Europe/Vatican
vc America/St_Vincent
ve America/Caracas
vg America/Tortola
vi America/St_Thomas,Virgin
vn Asia/Ho_Chi_Minh,Saigon
vu Pacific/Efate
wf Pacific/Wallis
ws Pacific/Apia
ye Asia/Aden
yt Indian/Mayotte
za Africa/Johannesburg
zm Africa/Lusaka
zw Africa/Harare
`;

let countries: ReadonlyMap<string, string> | undefined;

function readTable(): ReadonlyMap<string, string> {
  const found = new Map<string, string>();
  for (const line of TABLE.trim().split('\n')) {
    const [country = '', ...regions] = line.split(' ');
    for (const region of regions) {
      const at = region.indexOf('/');
      const prefix = region.slice(0, at + 1);
      for (const place of region.slice(at + 1).split(',')) {
        found.set(`${at > 0 ? prefix : ''}${place}`.toLowerCase(), country);
      }
    }
  }
  return found;
}

/** The country (ISO 3166, lower case) of a time zone, by any of the zone's names; null if it belongs to none. */
export function countryOfTimezone(timezone: string): string | null {
  countries ??= readTable();
  return countries.get(timezone.toLowerCase()) ?? null;
}
