import { creativeRoutes } from '#creatives/routes';
import { answerUnknownAddress, dashboardRoutes } from '#dashboard';
import { deletionRoutes } from '#deletion/routes';
import { deviceRoutes } from '#devices/routes';
import { docsRoutes } from '#docs/routes';
import { eventRoutes } from '#events/routes';
import { ingestionRoutes } from '#ingestion/routes';
import { moneyRoutes } from '#money/routes';
import { operationRoutes } from '#operations/routes';
import { reportRoutes } from '#reports/routes';
import { teamRoutes } from '#teams/routes';
import { trackingRoutes } from '#tracking';
import { createApp } from './app.ts';

/** The app with every route. */
export const service = createApp((app) => {
  app.route('/', ingestionRoutes);
  app.route('/', teamRoutes);
  app.route('/', deletionRoutes);
  app.route('/', eventRoutes);
  app.route('/', deviceRoutes);
  app.route('/', moneyRoutes);
  app.route('/', creativeRoutes);
  app.route('/', reportRoutes);
  app.route('/', operationRoutes);
  app.route('/', dashboardRoutes);
  app.route('/', trackingRoutes);
  app.route('/', docsRoutes);
}, answerUnknownAddress);
