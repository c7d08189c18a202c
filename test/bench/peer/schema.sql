CREATE TABLE applications (
  id text PRIMARY KEY,
  api_key text NOT NULL UNIQUE
);

CREATE TABLE devices (
  token text PRIMARY KEY,
  application_id text NOT NULL,
  device_id text NOT NULL,
  creative_id text NOT NULL
);

CREATE TABLE events (
  application_id text NOT NULL,
  event_id uuid NOT NULL,
  dedupe_key text,
  type text NOT NULL,
  device_id text NOT NULL,
  creative_id text NOT NULL,
  day date NOT NULL,
  occurred_at timestamptz NOT NULL,
  currency text NOT NULL,
  value_nanos bigint NOT NULL,
  payload jsonb NOT NULL,
  PRIMARY KEY (application_id, event_id)
);

CREATE UNIQUE INDEX events_dedupe_key ON events (application_id, dedupe_key) WHERE dedupe_key IS NOT NULL;

-- Room on each page, so that an update of these few busy rows stays on it and leaves the index alone.
CREATE TABLE rollup_daily (
  application_id text NOT NULL,
  day date NOT NULL,
  creative_id text NOT NULL,
  currency text NOT NULL,
  impressions bigint NOT NULL,
  ad_revenue_nanos bigint NOT NULL,
  purchases bigint NOT NULL,
  purchase_revenue_nanos bigint NOT NULL,
  sessions bigint NOT NULL,
  custom_events bigint NOT NULL,
  PRIMARY KEY (application_id, day, creative_id, currency)
) WITH (fillfactor = 20);
