import m0000 from './0000_destination.sql';
import m0001 from './0001_outage_told.sql';
import m0002 from './0002_format.sql';
import journal from './meta/_journal.json';

export default {
  journal,
  migrations: {
    m0000,
    m0001,
    m0002,
  },
};
