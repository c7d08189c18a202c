/** Lists that the fields for a time zone and a currency offer while someone types. A script fills them with what the browser knows. */
export const SuggestedValues = () => (
  <>
    <datalist id="time-zones" data-values-of="timeZone" />
    <datalist id="currencies" data-values-of="currency" />
    <script src="/suggest.js" type="module"></script>
  </>
);
