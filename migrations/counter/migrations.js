import m0000 from './0000_counter.sql';
import m0001 from './0001_pages_without_bytes.sql';
import m0002 from './0002_sent_parts.sql';
import m0003 from './0003_segment_values.sql';
import m0004 from './0004_purchases.sql';
import m0005 from './0005_transaction-devices.sql';
import m0006 from './0006_outbound.sql';
import m0007 from './0007_open_credits.sql';
import m0008 from './0008_shared_transactions.sql';
import m0009 from './0009_amount_days.sql';
import m0010 from './0010_losses.sql';
import journal from './meta/_journal.json';

export default {
  journal,
  migrations: {
    m0000,
    m0001,
    m0002,
    m0003,
    m0004,
    m0005,
    m0006,
    m0007,
    m0008,
    m0009,
    m0010,
  },
};
