import type { CostFormatDefinition } from './definition.ts';

/** The headings of TikTok's exports, in each language. */
export const tiktok = {
  label: 'TikTok Ads',
  checkedAgainst:
    'exports. Dutch, Korean, Arabic, Polish, Russian and Chinese: not verified against a real file',
  network: 'tiktok',
  columns: {
    date: [
      ...[
        'by day',
        'date',
        'stat time day',
        'nach tag',
        'datum',
        'par jour',
        'por día',
        'fecha',
        'al giorno',
      ],
      ...[
        'data',
        '日付',
        'op dag',
        'per dag',
        '일별',
        '날짜',
        'حسب اليوم',
        'التاريخ',
        'по дням',
        'дата',
        '按天',
        '日期',
      ],
    ],
    campaign: [
      ...['campaign name', 'kampagnenname', 'nom de la campagne', 'nombre de la campaña'],
      ...['nome della campagna', 'nome campagna', 'nome da campanha', 'nazwa kampanii', 'kampanya adı'],
      ...['キャンペーン名', 'campagnenaam', '캠페인 이름', 'اسم الحملة', 'название кампании', '推广系列名称'],
      ...['广告系列名称', '行銷活動名稱'],
    ],
    adset: [
      ...['ad group name', 'adgroup name', 'anzeigengruppenname', "nom du groupe d'annonces"],
      ...['nom du groupe de publicités', 'nombre del grupo de anuncios', 'nome del gruppo di annunci'],
      ...['nome do grupo de anúncios', 'nazwa grupy reklam', 'reklam grubu adı', '広告グループ名'],
      ...['naam advertentiegroep', 'advertentiegroepnaam', '광고 그룹 이름', '광고그룹 이름'],
      ...['اسم المجموعة الإعلانية', 'название группы объявлений', '广告组名称', '廣告群組名稱'],
    ],
    creative: [
      ...['ad name', 'anzeigenname', "nom de l'annonce", 'nom de la publicité', 'nombre del anuncio'],
      ...["nome dell'annuncio", 'nome do anúncio', 'nazwa reklamy', 'reklam adı', '広告名'],
      ...['advertentienaam', '광고 이름', 'اسم الإعلان', 'название объявления', '广告名称', '廣告名稱'],
    ],
    currency: [
      ...['currency', 'währung', 'devise', 'moneda', 'valuta', 'moeda', 'waluta', 'para birimi', '通貨'],
      ...['통화', 'العملة', 'валюта', '货币', '币种', '幣別'],
    ],
    amount: [
      ...['cost', 'total cost', 'kosten', 'gesamtkosten', 'coût', 'coût total', 'coste', 'costo', 'custo'],
      ...['koszt', 'maliyet', 'コスト', '費用', 'totale kosten', '비용', '총비용', '총 비용', 'التكلفة'],
      ...['إجمالي التكلفة', 'затраты', 'общие затраты', 'стоимость', '消耗', '总消耗', '成本', '總成本'],
    ],
    impressions: [
      ...['impressions', 'impression', 'impressionen', 'impresiones', 'impressioni', 'impressões'],
      ...['wyświetlenia', 'gösterim', 'インプレッション', 'インプレッション数', '表示回数', 'weergaven'],
      ...['vertoningen', '노출', '노출수', 'مرات الظهور', 'показы', '展示次数', '展示量', '曝光次數'],
    ],
    clicks: [
      ...['clicks (destination)', 'clicks', 'click', 'klicks', 'clics', 'clic', 'cliques', 'kliknięcia'],
      ...[
        'tıklamalar',
        'クリック数',
        'klikken',
        '클릭',
        '클릭수',
        'النقرات',
        'клики',
        '点击次数',
        '点击量',
        '點擊次數',
      ],
    ],
  },
} as const satisfies CostFormatDefinition;
