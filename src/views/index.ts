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
} from './views.ts';
