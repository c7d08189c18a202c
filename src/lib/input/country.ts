// Countries as people, networks and SDKs name them. The only table of aliases: events, callbacks, costs and filters read countries with it. Pure.

/** ISO 3166-1: each alpha-3 code, followed by the alpha-2 code of the same country. `xkk` is Unicode's for Kosovo, `xkx` others'. */
const ALPHA_3 =
  ' abwaw afgaf agoao aiaai alaax albal andad areae argar armam asmas ataaq atftf atgag ausau autat azeaz bdibi ' +
  'belbe benbj besbq bfabf bgdbd bgrbg bhrbh bhsbs bihba blmbl blrby blzbz bmubm bolbo brabr brbbb brnbn btnbt ' +
  'bvtbv bwabw cafcf canca cckcc chech chlcl chncn civci cmrcm codcd cogcg cokck colco comkm cpvcv cricr cubcu ' +
  'cuwcw cxrcx cymky cypcy czecz deude djidj dmadm dnkdk domdo dzadz ecuec egyeg erier esheh espes estee ethet ' +
  'finfi fjifj flkfk frafr frofo fsmfm gabga gbrgb geoge ggygg ghagh gibgi gingn glpgp gmbgm gnbgw gnqgq grcgr ' +
  'grdgd grlgl gtmgt gufgf gumgu guygy hkghk hmdhm hndhn hrvhr htiht hunhu idnid imnim indin iotio irlie irnir ' +
  'irqiq islis isril itait jamjm jeyje jorjo jpnjp kazkz kenke kgzkg khmkh kirki knakn korkr kwtkw laola lbnlb ' +
  'lbrlr lbyly lcalc lieli lkalk lsols ltult luxlu lvalv macmo mafmf marma mcomc mdamd mdgmg mdvmv mexmx mhlmh ' +
  'mkdmk mliml mltmt mmrmm mneme mngmn mnpmp mozmz mrtmr msrms mtqmq musmu mwimw mysmy mytyt namna nclnc nerne ' +
  'nfknf ngang nicni niunu nldnl norno nplnp nrunr nzlnz omnom pakpk panpa pcnpn perpe phlph plwpw pngpg polpl ' +
  'pripr prkkp prtpt prypy pseps pyfpf qatqa reure rouro rusru rwarw sausa sdnsd sensn sgpsg sgsgs shnsh sjmsj ' +
  'slbsb slesl slvsv smrsm somso spmpm srbrs ssdss stpst sursr svksk svnsi swese swzsz sxmsx sycsc syrsy tcatc ' +
  'tcdtd tgotg thath tjktj tkltk tkmtm tlstl tonto ttott tuntn turtr tuvtv twntw tzatz ugaug ukrua umium uryuy ' +
  'usaus uzbuz vatva vctvc venve vgbvg virvi vnmvn vutvu wlfwf wsmws xkkxk yemye zafza zmbzm zwezw';

/** Codes that stand for another one: reserved in ISO 3166-1 for the United Kingdom, and the European Union's for Greece. */
const OTHERS: ReadonlyMap<string, string> = new Map([
  ['uk', 'gb'],
  ['el', 'gr'],
  ['xkx', 'xk'],
]);

export const COUNTRY_CODE_FAULT = 'must be an ISO 3166 country code such as DE or DEU';

/** The two-letter country code, in lower case, that a code of two or three letters stands for; null for any other text. */
export function toCountryCode(text: string): string | null {
  const code = text.trim().toLowerCase();
  if (!/^[a-z]{2,3}$/.test(code)) return null;
  const other = OTHERS.get(code);
  if (other !== undefined || code.length === 2) return other ?? code;
  // A space before each pair, so that only its beginning is found. A map of them would have to be built in every isolate.
  const at = ALPHA_3.indexOf(` ${code}`);
  return at < 0 ? null : ALPHA_3.slice(at + 4, at + 6);
}
