-- Sessions and their events. Times are nanoseconds since 1970, UTC; 0 is none.
-- The type is json, not jsonb: jsonb orders keys anew and refuses \u0000, and
-- these bytes are hashed and signed. store/chain.go says what the hashes cover.
-- A released migration is never changed.

CREATE TABLE migrations (
  version  bigint PRIMARY KEY,
  checksum text NOT NULL
);

CREATE TABLE sessions (
  id         text COLLATE "C" PRIMARY KEY,
  title      text NOT NULL,
  dir        text NOT NULL,
  branch     text NOT NULL,
  model      text NOT NULL,
  created    bigint NOT NULL,
  updated    bigint NOT NULL,
  parent     text NOT NULL,
  parent_seq bigint NOT NULL,
  events     bigint NOT NULL, -- also the seq of the last one
  calls      bigint NOT NULL,
  last_words text NOT NULL,
  head       bytea NOT NULL,  -- the hash of the last event
  pid        bigint NOT NULL, -- who opened it last
  host       text NOT NULL
);

CREATE INDEX sessions_updated ON sessions (updated);

CREATE TABLE events (
  session   text COLLATE "C" NOT NULL,
  seq       bigint NOT NULL,
  turn      bigint NOT NULL,
  at        bigint NOT NULL,
  kind      text NOT NULL,
  content   text NOT NULL,
  data_json json,
  reply     text NOT NULL,
  keep      json,
  exact     bytea,         -- the row as it is hashed, where the columns cannot hold its bytes
  prev      bytea NOT NULL,
  hash      bytea NOT NULL,
  PRIMARY KEY (session, seq)
);
