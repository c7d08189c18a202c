export {
  createShareLink,
  findShareLink,
  listShareLinks,
  listViews,
  NewShareLink,
  NewView,
  pruneShareLinks,
  removeView,
  revokeShareLink,
  saveView,
  VIEW_PAGES,
  viewAddress,
} from './views.ts';
