SELECT pg_catalog.set_config('search_path', '', false);
CREATE SCHEMA golden;
CREATE TABLE golden.events (
    session text NOT NULL COLLATE pg_catalog."C",
    seq bigint NOT NULL,
    turn bigint NOT NULL,
    at bigint NOT NULL,
    kind text NOT NULL,
    content text NOT NULL,
    data_json json,
    reply text NOT NULL,
    keep json,
    exact bytea,
    prev bytea NOT NULL,
    hash bytea NOT NULL
);
CREATE TABLE golden.migrations (
    version bigint NOT NULL,
    checksum text NOT NULL
);
CREATE TABLE golden.sessions (
    id text NOT NULL COLLATE pg_catalog."C",
    title text NOT NULL,
    dir text NOT NULL,
    branch text NOT NULL,
    model text NOT NULL,
    created bigint NOT NULL,
    updated bigint NOT NULL,
    parent text NOT NULL,
    parent_seq bigint NOT NULL,
    events bigint NOT NULL,
    calls bigint NOT NULL,
    last_words text NOT NULL,
    head bytea NOT NULL,
    pid bigint NOT NULL,
    host text NOT NULL
);
INSERT INTO golden.events VALUES ('one', 1, 1, 1791192601123456789, 'user', 'question 1', NULL, '', NULL, NULL, '\x7692c3ad3540bb803c020b3aee66cd8887123234ea0c6e7143c0add73ff431ed', '\xbd59ae656f19ca4f5463f301f5dbab70c9514103fce8fb30c0fbee9462f727ea');
INSERT INTO golden.events VALUES ('one', 2, 1, 1791192602123456789, 'tool_call', 'grep(pattern=x)', '{"id":"call_2","type":"function","function":{"name":"grep","arguments":"{\"pattern\": \"a<b\"}"}}', 'reply 2', '{"dialect":"anthropic","model":"m1","data":{"signature":"Zm9v"}}', NULL, '\xbd59ae656f19ca4f5463f301f5dbab70c9514103fce8fb30c0fbee9462f727ea', '\xd36683764c664f73b3233966b611441e526c4ea1329f184784507ec78ced493b');
INSERT INTO golden.events VALUES ('one', 3, 1, 1791192603123456789, 'tool_result', '3 lines found', '{"tool_call_id":"call_3","name":"grep","output":"{\"output\":\"a\\nb\\nc\",\"count\":3}","success":true,"error_type":"none","took_us":4000}', '', NULL, NULL, '\xd36683764c664f73b3233966b611441e526c4ea1329f184784507ec78ced493b', '\xaa2e363c9651603e4829a608438c91b8b0bda472f170b0741c8b4c78f95a8d7a');
INSERT INTO golden.events VALUES ('one', 4, 1, 1791192604123456789, 'assistant', 'answer 4 & more', NULL, '', NULL, NULL, '\xaa2e363c9651603e4829a608438c91b8b0bda472f170b0741c8b4c78f95a8d7a', '\x5758fc79849766a63c4ce767574a48fce515b11d5eb1bcccc5653eaea1cf8ede');
INSERT INTO golden.events VALUES ('one', 5, 1, 1791192605123456789, 'user', 'question 5', NULL, '', NULL, NULL, '\x5758fc79849766a63c4ce767574a48fce515b11d5eb1bcccc5653eaea1cf8ede', '\x379a2ad1c11ffe7e97a19622343ab33b66e57882ce18fa419c388135e9baaa97');
INSERT INTO golden.events VALUES ('one', 6, 1, 1791192606123456789, 'tool_call', 'grep(pattern=x)', '{"id":"call_6","type":"function","function":{"name":"grep","arguments":"{\"pattern\": \"a<b\"}"}}', 'reply 6', '{"dialect":"anthropic","model":"m1","data":{"signature":"Zm9v"}}', NULL, '\x379a2ad1c11ffe7e97a19622343ab33b66e57882ce18fa419c388135e9baaa97', '\x721382053e065ef0e08b17494226f2037e3f9395cfbb997c81719c34e15cb66b');
INSERT INTO golden.events VALUES ('one', 7, 1, 1791192607123456789, 'tool_result', '3 lines found', '{"tool_call_id":"call_7","name":"grep","output":"{\"output\":\"a\\nb\\nc\",\"count\":3}","success":true,"error_type":"none","took_us":4000}', '', NULL, NULL, '\x721382053e065ef0e08b17494226f2037e3f9395cfbb997c81719c34e15cb66b', '\x822c42bf4ddcaeef721d5467dbd586dc975a12d2dff9a03ea0015d1b99d5b8f8');
INSERT INTO golden.events VALUES ('one', 8, 2, 1791192608123456789, 'assistant', 'answer 8 & more', NULL, '', NULL, NULL, '\x822c42bf4ddcaeef721d5467dbd586dc975a12d2dff9a03ea0015d1b99d5b8f8', '\x1bf8df47a84b3cb0fe4854c55fb8b26b34aa96dc883f91d0e023417599ac4093');
INSERT INTO golden.events VALUES ('one', 9, 2, 1791192609123456789, 'user', 'question 9', NULL, '', NULL, NULL, '\x1bf8df47a84b3cb0fe4854c55fb8b26b34aa96dc883f91d0e023417599ac4093', '\x61c2311fb75f3d11c9b294aae9891a19dc4d2fdab2306a4d22316c88a457d3b5');
INSERT INTO golden.events VALUES ('one', 10, 2, 1791192610123456789, 'tool_call', 'grep(pattern=x)', '{"id":"call_10","type":"function","function":{"name":"grep","arguments":"{\"pattern\": \"a<b\"}"}}', 'reply 10', '{"dialect":"anthropic","model":"m1","data":{"signature":"Zm9v"}}', NULL, '\x61c2311fb75f3d11c9b294aae9891a19dc4d2fdab2306a4d22316c88a457d3b5', '\x5398005a5760d7a309ffcbda7f2721fabe32c4f767f917467172682f942a566b');
INSERT INTO golden.events VALUES ('one', 11, 2, 1791192611123456789, 'tool_result', '3 lines found', '{"tool_call_id":"call_11","name":"grep","output":"{\"output\":\"a\\nb\\nc\",\"count\":3}","success":true,"error_type":"none","took_us":4000}', '', NULL, NULL, '\x5398005a5760d7a309ffcbda7f2721fabe32c4f767f917467172682f942a566b', '\xe49c5a3d2d5324070e0530fc125a8fd3cedfdd8b55f124dd6fd6237c643c992a');
INSERT INTO golden.events VALUES ('one', 12, 2, 1791192612123456789, 'assistant', 'answer 12 & more', NULL, '', NULL, NULL, '\xe49c5a3d2d5324070e0530fc125a8fd3cedfdd8b55f124dd6fd6237c643c992a', '\x58ab17478db0ff95a0d986c9029b63608a0703a87415dd608772353e6b1d3efe');
INSERT INTO golden.events VALUES ('one', 13, 2, 1791192613123456789, 'user', 'question 13', NULL, '', NULL, NULL, '\x58ab17478db0ff95a0d986c9029b63608a0703a87415dd608772353e6b1d3efe', '\x5aee30b257b7ec0efda29816a46835e56d908624c7ba08b20f7c9a95440b6fef');
INSERT INTO golden.events VALUES ('one', 14, 2, 1791192614123456789, 'tool_call', 'grep(pattern=x)', '{"id":"call_14","type":"function","function":{"name":"grep","arguments":"{\"pattern\": \"a<b\"}"}}', 'reply 14', '{"dialect":"anthropic","model":"m1","data":{"signature":"Zm9v"}}', NULL, '\x5aee30b257b7ec0efda29816a46835e56d908624c7ba08b20f7c9a95440b6fef', '\x92b0ca49deaa45f3117e3c4b4c34b4847c1356a9f3e461424c49a509feecb713');
INSERT INTO golden.events VALUES ('one', 15, 2, 1791192615123456789, 'tool_result', '3 lines found', '{"tool_call_id":"call_15","name":"grep","output":"{\"output\":\"a\\nb\\nc\",\"count\":3}","success":true,"error_type":"none","took_us":4000}', '', NULL, NULL, '\x92b0ca49deaa45f3117e3c4b4c34b4847c1356a9f3e461424c49a509feecb713', '\xf10d1f2de3084a0e1f2e2fa782c7c7a3ba151e4cddb698eeba0c77b3612758c3');
INSERT INTO golden.events VALUES ('one', 16, 3, 1791192616123456789, 'assistant', 'answer 16 & more', NULL, '', NULL, NULL, '\xf10d1f2de3084a0e1f2e2fa782c7c7a3ba151e4cddb698eeba0c77b3612758c3', '\xfbc6b8526f302b3d8fa9ccfc6c76065b3639e25507aad940f787c886fc5f16ec');
INSERT INTO golden.events VALUES ('one', 17, 3, 1791192617123456789, 'user', 'question 17', NULL, '', NULL, NULL, '\xfbc6b8526f302b3d8fa9ccfc6c76065b3639e25507aad940f787c886fc5f16ec', '\x84ed8bb6817da33686d1d7c668082a585b5419f792bcf56dcca993a6cf7bcb3b');
INSERT INTO golden.events VALUES ('one', 18, 3, 1791192618123456789, 'tool_call', 'grep(pattern=x)', '{"id":"call_18","type":"function","function":{"name":"grep","arguments":"{\"pattern\": \"a<b\"}"}}', 'reply 18', '{"dialect":"anthropic","model":"m1","data":{"signature":"Zm9v"}}', NULL, '\x84ed8bb6817da33686d1d7c668082a585b5419f792bcf56dcca993a6cf7bcb3b', '\x3ef80a9e1fd5ccb68039d61ca4379766c5ede552ef1b88820d265f918d05be50');
INSERT INTO golden.events VALUES ('one', 19, 3, 1791192619123456789, 'tool_result', '3 lines found', '{"tool_call_id":"call_19","name":"grep","output":"{\"output\":\"a\\nb\\nc\",\"count\":3}","success":true,"error_type":"none","took_us":4000}', '', NULL, NULL, '\x3ef80a9e1fd5ccb68039d61ca4379766c5ede552ef1b88820d265f918d05be50', '\x8a93577cb2d93b059d16d5f60ab28b2a4fcceb7c9bc13265909a993a354a956a');
INSERT INTO golden.events VALUES ('one', 20, 3, 1791192620123456789, 'assistant', 'answer 20 & more', NULL, '', NULL, NULL, '\x8a93577cb2d93b059d16d5f60ab28b2a4fcceb7c9bc13265909a993a354a956a', '\xa5161a314675bf3f68870cf622bc8d14b82028e253f59fbfddadda3735cacad6');
INSERT INTO golden.events VALUES ('one', 21, 3, 1791192621123456789, 'user', 'question 21', NULL, '', NULL, NULL, '\xa5161a314675bf3f68870cf622bc8d14b82028e253f59fbfddadda3735cacad6', '\x0db78a050a08e9412ea159bd65db4f7bcff6e3c22f71574d49e17ff0d489ce2d');
INSERT INTO golden.events VALUES ('one', 22, 3, 1791192622123456789, 'tool_call', 'grep(pattern=x)', '{"id":"call_22","type":"function","function":{"name":"grep","arguments":"{\"pattern\": \"a<b\"}"}}', 'reply 22', '{"dialect":"anthropic","model":"m1","data":{"signature":"Zm9v"}}', NULL, '\x0db78a050a08e9412ea159bd65db4f7bcff6e3c22f71574d49e17ff0d489ce2d', '\xce32be5b7efb5691a6f6b3107e10755010db64cb006122060a562af5fb759500');
INSERT INTO golden.events VALUES ('one', 23, 3, 1791192623123456789, 'tool_result', '3 lines found', '{"tool_call_id":"call_23","name":"grep","output":"{\"output\":\"a\\nb\\nc\",\"count\":3}","success":true,"error_type":"none","took_us":4000}', '', NULL, NULL, '\xce32be5b7efb5691a6f6b3107e10755010db64cb006122060a562af5fb759500', '\xfdf78359224bb1603e3c3442ff79a9dd1f5cabeb64da3ab816cb3fb411f5230d');
INSERT INTO golden.events VALUES ('one', 24, 4, 1791192624123456789, 'assistant', 'answer 24 & more', NULL, '', NULL, NULL, '\xfdf78359224bb1603e3c3442ff79a9dd1f5cabeb64da3ab816cb3fb411f5230d', '\xaaa129dc1e40a7f96d5a870d4adec4b1e41a0eaf92cd7bb0bfa60a8f628bca4b');
INSERT INTO golden.events VALUES ('one', 25, 4, 1791192625123456789, 'user', 'question 25', NULL, '', NULL, NULL, '\xaaa129dc1e40a7f96d5a870d4adec4b1e41a0eaf92cd7bb0bfa60a8f628bca4b', '\xbb1ec48cb38e39444d1f14d333fb758f5970b3bfd7d676ddec793bb1c557d9f8');
INSERT INTO golden.events VALUES ('one', 26, 4, 1791192626123456789, 'tool_call', 'grep(pattern=x)', '{"id":"call_26","type":"function","function":{"name":"grep","arguments":"{\"pattern\": \"a<b\"}"}}', 'reply 26', '{"dialect":"anthropic","model":"m1","data":{"signature":"Zm9v"}}', NULL, '\xbb1ec48cb38e39444d1f14d333fb758f5970b3bfd7d676ddec793bb1c557d9f8', '\x69bd28a633f850c7ab120f59542bc3053205fdff787f1da74360d96a2b78a243');
INSERT INTO golden.events VALUES ('one', 27, 4, 1791192627123456789, 'tool_result', '3 lines found', '{"tool_call_id":"call_27","name":"grep","output":"{\"output\":\"a\\nb\\nc\",\"count\":3}","success":true,"error_type":"none","took_us":4000}', '', NULL, NULL, '\x69bd28a633f850c7ab120f59542bc3053205fdff787f1da74360d96a2b78a243', '\x660d8b4b4e8b841c917acd2e01841f727b33f72c12db8f46cb8756267fdec1d9');
INSERT INTO golden.events VALUES ('one', 28, 4, 1791192628123456789, 'assistant', 'answer 28 & more', NULL, '', NULL, NULL, '\x660d8b4b4e8b841c917acd2e01841f727b33f72c12db8f46cb8756267fdec1d9', '\x8459d0c1d8f5d07e520e29592c26b945e276d2bb9cb232bcc1c4438ae924e247');
INSERT INTO golden.events VALUES ('one', 29, 4, 1791192629123456789, 'user', 'question 29', NULL, '', NULL, NULL, '\x8459d0c1d8f5d07e520e29592c26b945e276d2bb9cb232bcc1c4438ae924e247', '\x30828dda0eb6b4b0a85c084ef2580fabd1e54a56cab0ae44e496665d62e8e620');
INSERT INTO golden.events VALUES ('one', 30, 4, 1791192630123456789, 'tool_call', 'grep(pattern=x)', '{"id":"call_30","type":"function","function":{"name":"grep","arguments":"{\"pattern\": \"a<b\"}"}}', 'reply 30', '{"dialect":"anthropic","model":"m1","data":{"signature":"Zm9v"}}', NULL, '\x30828dda0eb6b4b0a85c084ef2580fabd1e54a56cab0ae44e496665d62e8e620', '\x2680d69a55f23ae30590c92a9f96a8ed65a905f8d38185268dd133f82f8f7e04');
INSERT INTO golden.events VALUES ('one', 31, 4, 1791192631123456789, 'tool_result', '3 lines found', '{"tool_call_id":"call_31","name":"grep","output":"{\"output\":\"a\\nb\\nc\",\"count\":3}","success":true,"error_type":"none","took_us":4000}', '', NULL, NULL, '\x2680d69a55f23ae30590c92a9f96a8ed65a905f8d38185268dd133f82f8f7e04', '\xabf60cca2e13fc1a683ba4dcd7d84d8f62d3f79acee05cc17f776d4b19b23a3b');
INSERT INTO golden.events VALUES ('one', 32, 5, 1791192632123456789, 'assistant', 'answer 32 & more', NULL, '', NULL, NULL, '\xabf60cca2e13fc1a683ba4dcd7d84d8f62d3f79acee05cc17f776d4b19b23a3b', '\x279cd70ec61181b55ab4007e1f4aac2ed7d9df25fac14d612940f069c87d79d4');
INSERT INTO golden.events VALUES ('one', 33, 5, 1791192633123456789, 'user', 'question 33', NULL, '', NULL, NULL, '\x279cd70ec61181b55ab4007e1f4aac2ed7d9df25fac14d612940f069c87d79d4', '\x35bbfbc68c39a3686d7e401feccd09bf93e57a196bee6dcacbaec8f7dc6b5a19');
INSERT INTO golden.events VALUES ('one', 34, 5, 1791192634123456789, 'tool_call', 'grep(pattern=x)', '{"id":"call_34","type":"function","function":{"name":"grep","arguments":"{\"pattern\": \"a<b\"}"}}', 'reply 34', '{"dialect":"anthropic","model":"m1","data":{"signature":"Zm9v"}}', NULL, '\x35bbfbc68c39a3686d7e401feccd09bf93e57a196bee6dcacbaec8f7dc6b5a19', '\xac97206143378822a56917d949c68701e3d8efdd3e6351c17c32320279f4dd09');
INSERT INTO golden.events VALUES ('one', 35, 5, 1791192635123456789, 'tool_result', '3 lines found', '{"tool_call_id":"call_35","name":"grep","output":"{\"output\":\"a\\nb\\nc\",\"count\":3}","success":true,"error_type":"none","took_us":4000}', '', NULL, NULL, '\xac97206143378822a56917d949c68701e3d8efdd3e6351c17c32320279f4dd09', '\x5cf786a3231da49e58956de0c31953d43fbf362cb1a84411bf7e63458b45393f');
INSERT INTO golden.events VALUES ('one', 36, 5, 1791192636123456789, 'assistant', 'answer 36 & more', NULL, '', NULL, NULL, '\x5cf786a3231da49e58956de0c31953d43fbf362cb1a84411bf7e63458b45393f', '\x72746b38793e03e2787d4477c5b77da5a738080df4563f6d4ae6577bccecfbf9');
INSERT INTO golden.events VALUES ('one', 37, 5, 1791192637123456789, 'user', 'question 37', NULL, '', NULL, NULL, '\x72746b38793e03e2787d4477c5b77da5a738080df4563f6d4ae6577bccecfbf9', '\x7a28112aa3a8cbd65980452a03580753650abcfdb29a6f106789cdeb2dd59870');
INSERT INTO golden.events VALUES ('one', 38, 5, 1791192638123456789, 'tool_call', 'grep(pattern=x)', '{"id":"call_38","type":"function","function":{"name":"grep","arguments":"{\"pattern\": \"a<b\"}"}}', 'reply 38', '{"dialect":"anthropic","model":"m1","data":{"signature":"Zm9v"}}', NULL, '\x7a28112aa3a8cbd65980452a03580753650abcfdb29a6f106789cdeb2dd59870', '\x6e18f88f52e2201c09df364b4f1b84ad80e66741e90d3eec5595cbd36fbcebb4');
INSERT INTO golden.events VALUES ('one', 39, 5, 1791192639123456789, 'tool_result', '3 lines found', '{"tool_call_id":"call_39","name":"grep","output":"{\"output\":\"a\\nb\\nc\",\"count\":3}","success":true,"error_type":"none","took_us":4000}', '', NULL, NULL, '\x6e18f88f52e2201c09df364b4f1b84ad80e66741e90d3eec5595cbd36fbcebb4', '\xc1cc730f661400437882ac416e770fbe07f102278fa5e66f6591d1284ab23769');
INSERT INTO golden.events VALUES ('one', 40, 6, 1791192640123456789, 'assistant', 'answer 40 & more', NULL, '', NULL, NULL, '\xc1cc730f661400437882ac416e770fbe07f102278fa5e66f6591d1284ab23769', '\x4c5ca2d79275f1b99351aa7113fc6a6cc25370ed935b8a1b91be4dff31880642');
INSERT INTO golden.events VALUES ('two', 1, 1, 1791192601123456789, 'user', 'a␀�', NULL, '', NULL, '\x0000000000000001000000000000000118db982e3a45871500000000000000047573657200000000000000036100ffffffffffffffffff0000000000000000ffffffffffffffff', '\x3fc4ccfe745870e2c0d99f71f30ff0656c8dedd41cc1d7d3d376b0dbe685e2f3', '\x10062c584b5df29f7fe849ab07d64281e8c9b93c077324e21f4ca088290b3527');
INSERT INTO golden.migrations VALUES (1, '0995ed6893e9d3c5746583f98185104c8b0656ee7ab47dda8dfa94deb0b9044f');
INSERT INTO golden.sessions VALUES ('one', 'title of one', '/src/one', 'main', 'm1', 1791192600123456789, 1791192640123456789, '', 0, 40, 10, 'answer 40 & more', '\x4c5ca2d79275f1b99351aa7113fc6a6cc25370ed935b8a1b91be4dff31880642', 1, 'elsewhere');
INSERT INTO golden.sessions VALUES ('two', 'title of two', '/src/two', 'main', 'm1', 1791192600123456789, 1791192601123456789, '', 0, 1, 0, 'a �', '\x10062c584b5df29f7fe849ab07d64281e8c9b93c077324e21f4ca088290b3527', 1, 'elsewhere');
ALTER TABLE ONLY golden.events
    ADD CONSTRAINT events_pkey PRIMARY KEY (session, seq);
ALTER TABLE ONLY golden.migrations
    ADD CONSTRAINT migrations_pkey PRIMARY KEY (version);
ALTER TABLE ONLY golden.sessions
    ADD CONSTRAINT sessions_pkey PRIMARY KEY (id);
CREATE INDEX sessions_updated ON golden.sessions USING btree (updated);
