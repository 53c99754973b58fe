BEGIN TRANSACTION;
CREATE TABLE analyses (
	no INTEGER NOT NULL, 
	comparison_no BIGINT NOT NULL, 
	place BIGINT NOT NULL, 
	at TEXT NOT NULL, 
	json TEXT NOT NULL, 
	superseded_at TEXT, 
	PRIMARY KEY (no), 
	FOREIGN KEY(comparison_no, place) REFERENCES compared_pairs (comparison_no, place)
);
CREATE TABLE answers (
	run_no BIGINT NOT NULL, 
	place BIGINT NOT NULL, 
	variant_no BIGINT NOT NULL, 
	repeat BIGINT NOT NULL, 
	case_id TEXT NOT NULL, 
	case_key TEXT NOT NULL, 
	begun_at TEXT NOT NULL, 
	is_done BOOLEAN NOT NULL, 
	PRIMARY KEY (run_no, place, variant_no, repeat), 
	UNIQUE (run_no, case_id, variant_no, repeat), 
	FOREIGN KEY(case_key) REFERENCES cases ("key")
)
 WITHOUT ROWID

;
INSERT INTO "answers" VALUES(1,0,0,0,'q00','4cf56732a84eb0dec6ffb78ab5a65cf3','2026-11-22T21:34:13.687994+00:00',1);
INSERT INTO "answers" VALUES(1,1,0,0,'q01','db1127096a2fbc2274d4a06cdfc64e0f','2026-11-22T21:34:13.688337+00:00',1);
INSERT INTO "answers" VALUES(1,2,0,0,'q02','9a5504d9b70549db9ce081feb9c0d3ca','2026-11-22T21:34:13.688500+00:00',1);
CREATE TABLE approvals (
	no INTEGER NOT NULL, 
	id TEXT NOT NULL, 
	at TEXT NOT NULL, 
	variant TEXT NOT NULL, 
	version TEXT NOT NULL, 
	json TEXT NOT NULL, 
	PRIMARY KEY (no), 
	UNIQUE (id)
);
INSERT INTO "approvals" VALUES(1,'apr-20261122T213414Z-e37c','2026-11-22T21:34:14.208461+00:00','a','3c9f0292f8e51f4223f08bf0f1268c83e38508b3d5941e7adb42bc9f4091d96e','{"id":"apr-20261122T213414Z-e37c","at":"2026-11-22T21:34:14.208461Z","variant":"a","baseline":"b","version":{"fingerprint":"3c9f0292f8e51f4223f08bf0f1268c83e38508b3d5941e7adb42bc9f4091d96e","prompt_fingerprint":null,"prompt":null,"model":null,"outputs":"outputs/a.jsonl"},"by":"Ann","because":"It is better.","suite":"lab","kind":"blind","evidence":["cmp-20261122T213414Z-0b25"],"rubric":"helpfulness","rubric_fingerprint":"19b3cea1060ee2c64f2c7cec7ccd868c50dd3b30be9daf527c677e865ce2df82","alpha":0.05,"p":0.021484375,"shown":"9 of 10 decided pairs"}');
CREATE TABLE assertion_results (
	no INTEGER NOT NULL, 
	run_no BIGINT NOT NULL, 
	place BIGINT NOT NULL, 
	variant_no BIGINT NOT NULL, 
	repeat BIGINT NOT NULL, 
	ordinal BIGINT NOT NULL, 
	at TEXT NOT NULL, 
	type TEXT NOT NULL, 
	passed BOOLEAN, 
	value DOUBLE, 
	json TEXT NOT NULL, 
	superseded_at TEXT, 
	PRIMARY KEY (no), 
	FOREIGN KEY(run_no, place, variant_no, repeat) REFERENCES answers (run_no, place, variant_no, repeat)
);
CREATE TABLE case_tags (
	case_key TEXT NOT NULL, 
	tag TEXT NOT NULL, 
	PRIMARY KEY (case_key, tag), 
	FOREIGN KEY(case_key) REFERENCES cases ("key")
);
INSERT INTO "case_tags" VALUES('4cf56732a84eb0dec6ffb78ab5a65cf3','even');
INSERT INTO "case_tags" VALUES('9a5504d9b70549db9ce081feb9c0d3ca','even');
INSERT INTO "case_tags" VALUES('db1127096a2fbc2274d4a06cdfc64e0f','odd');
INSERT INTO "case_tags" VALUES('a9b03073e622cfd60cd66fbe5cbe4925','odd');
INSERT INTO "case_tags" VALUES('d7e9fdb6d733e1cc1112cf0784fabd31','even');
INSERT INTO "case_tags" VALUES('f4297cad547402e5e7c88a898126a951','odd');
INSERT INTO "case_tags" VALUES('ac745b95924bda4c9a3a80a4e6f42f0c','even');
INSERT INTO "case_tags" VALUES('149a4e8fecb80cfe9311ad166c31b6ab','odd');
INSERT INTO "case_tags" VALUES('356e57dc7873c147405e57c1eed6c2ad','even');
INSERT INTO "case_tags" VALUES('87c82757b7717c20497c02ccb0e10bad','odd');
INSERT INTO "case_tags" VALUES('2592dc3e7cf4aa499b115f66e3c25845','even');
INSERT INTO "case_tags" VALUES('f70c55b431a92d2c11a842c92265e251','odd');
CREATE TABLE cases (
	"key" TEXT NOT NULL, 
	case_id TEXT NOT NULL, 
	agent TEXT, 
	skill TEXT, 
	prompt_version TEXT, 
	rubric_key TEXT, 
	rubric_name TEXT, 
	first_seen_at TEXT NOT NULL, 
	json TEXT NOT NULL, 
	PRIMARY KEY ("key"), 
	FOREIGN KEY(rubric_key) REFERENCES rubrics ("key")
);
INSERT INTO "cases" VALUES('4cf56732a84eb0dec6ffb78ab5a65cf3','q00',NULL,NULL,NULL,NULL,NULL,'2026-11-22T21:34:13.687994+00:00','{"id":"q00","input":"Problem q00?","reference":"Solution q00.","tags":["even"],"stratum":"simple","status":"active","assertions":[],"metadata":{}}');
INSERT INTO "cases" VALUES('9a5504d9b70549db9ce081feb9c0d3ca','q02',NULL,NULL,NULL,NULL,NULL,'2026-11-22T21:34:13.688500+00:00','{"id":"q02","input":"Problem q02?","reference":"Solution q02.","tags":["even"],"stratum":"complex","status":"active","assertions":[],"metadata":{}}');
INSERT INTO "cases" VALUES('db1127096a2fbc2274d4a06cdfc64e0f','q01',NULL,NULL,NULL,NULL,NULL,'2026-11-22T21:34:13.688337+00:00','{"id":"q01","input":"Problem q01?","reference":"Solution q01.","tags":["odd"],"stratum":"medium","status":"active","assertions":[],"metadata":{}}');
INSERT INTO "cases" VALUES('a9b03073e622cfd60cd66fbe5cbe4925','q03',NULL,NULL,NULL,NULL,NULL,'2026-11-22T21:34:14.163856+00:00','{"id":"q03","input":"Problem q03?","reference":"Solution q03.","tags":["odd"],"stratum":"simple","status":"active","assertions":[],"metadata":{}}');
INSERT INTO "cases" VALUES('d7e9fdb6d733e1cc1112cf0784fabd31','q04',NULL,NULL,NULL,NULL,NULL,'2026-11-22T21:34:14.163856+00:00','{"id":"q04","input":"Problem q04?","reference":"Solution q04.","tags":["even"],"stratum":"medium","status":"active","assertions":[],"metadata":{}}');
INSERT INTO "cases" VALUES('f4297cad547402e5e7c88a898126a951','q05',NULL,NULL,NULL,NULL,NULL,'2026-11-22T21:34:14.163856+00:00','{"id":"q05","input":"Problem q05?","reference":"Solution q05.","tags":["odd"],"stratum":"complex","status":"active","assertions":[],"metadata":{}}');
INSERT INTO "cases" VALUES('ac745b95924bda4c9a3a80a4e6f42f0c','q06',NULL,NULL,NULL,NULL,NULL,'2026-11-22T21:34:14.163856+00:00','{"id":"q06","input":"Problem q06?","reference":"Solution q06.","tags":["even"],"stratum":"simple","status":"active","assertions":[],"metadata":{}}');
INSERT INTO "cases" VALUES('149a4e8fecb80cfe9311ad166c31b6ab','q07',NULL,NULL,NULL,NULL,NULL,'2026-11-22T21:34:14.163856+00:00','{"id":"q07","input":"Problem q07?","reference":"Solution q07.","tags":["odd"],"stratum":"medium","status":"active","assertions":[],"metadata":{}}');
INSERT INTO "cases" VALUES('356e57dc7873c147405e57c1eed6c2ad','q08',NULL,NULL,NULL,NULL,NULL,'2026-11-22T21:34:14.163856+00:00','{"id":"q08","input":"Problem q08?","reference":"Solution q08.","tags":["even"],"stratum":"complex","status":"active","assertions":[],"metadata":{}}');
INSERT INTO "cases" VALUES('87c82757b7717c20497c02ccb0e10bad','q09',NULL,NULL,NULL,NULL,NULL,'2026-11-22T21:34:14.163856+00:00','{"id":"q09","input":"Problem q09?","reference":"Solution q09.","tags":["odd"],"stratum":"simple","status":"active","assertions":[],"metadata":{}}');
INSERT INTO "cases" VALUES('2592dc3e7cf4aa499b115f66e3c25845','q10',NULL,NULL,NULL,NULL,NULL,'2026-11-22T21:34:14.163856+00:00','{"id":"q10","input":"Problem q10?","reference":"Solution q10.","tags":["even"],"stratum":"medium","status":"active","assertions":[],"metadata":{}}');
INSERT INTO "cases" VALUES('f70c55b431a92d2c11a842c92265e251','q11',NULL,NULL,NULL,NULL,NULL,'2026-11-22T21:34:14.163856+00:00','{"id":"q11","input":"Problem q11?","reference":"Solution q11.","tags":["odd"],"stratum":"complex","status":"active","assertions":[],"metadata":{}}');
CREATE TABLE compared_outputs (
	"key" TEXT NOT NULL, 
	json TEXT NOT NULL, 
	PRIMARY KEY ("key")
);
INSERT INTO "compared_outputs" VALUES('42ba1b8ce88e184377e7b71ff2af76f3','{"text":"Gladly, this solves q00","trace":[],"usage":{"input_tokens":10,"output_tokens":5,"cached_input_tokens":0,"reasoning_tokens":0},"duration_ms":100.0,"case_id":"q00","variant":"a","metadata":{}}');
INSERT INTO "compared_outputs" VALUES('e7478c3fbfcbb4df6896601e2ad4f44e','{"text":"Perhaps it is q00","trace":[],"usage":{"input_tokens":10,"output_tokens":5,"cached_input_tokens":0,"reasoning_tokens":0},"duration_ms":100.0,"case_id":"q00","variant":"b","metadata":{}}');
INSERT INTO "compared_outputs" VALUES('8cd02b8cce9a38b095c71dd82f9c423f','{"text":"Gladly, this solves q01!","trace":[],"usage":{"input_tokens":11,"output_tokens":5,"cached_input_tokens":0,"reasoning_tokens":0},"duration_ms":101.0,"case_id":"q01","variant":"a","metadata":{}}');
INSERT INTO "compared_outputs" VALUES('eac1917eee02eaed3747fc9cc2b81f71','{"text":"Perhaps it is q01!","trace":[],"usage":{"input_tokens":11,"output_tokens":5,"cached_input_tokens":0,"reasoning_tokens":0},"duration_ms":101.0,"case_id":"q01","variant":"b","metadata":{}}');
INSERT INTO "compared_outputs" VALUES('60c1ba30c5b677427172be1430180c05','{"text":"Gladly, this solves q02!!","trace":[],"usage":{"input_tokens":12,"output_tokens":5,"cached_input_tokens":0,"reasoning_tokens":0},"duration_ms":102.0,"case_id":"q02","variant":"a","metadata":{}}');
INSERT INTO "compared_outputs" VALUES('94b02525223a4a2fbddd63820821e50c','{"text":"Perhaps it is q02!!","trace":[],"usage":{"input_tokens":12,"output_tokens":5,"cached_input_tokens":0,"reasoning_tokens":0},"duration_ms":102.0,"case_id":"q02","variant":"b","metadata":{}}');
INSERT INTO "compared_outputs" VALUES('3db51742373c739e7f2c07acc9724dd5','{"text":"Gladly, this solves q03!!!","trace":[],"usage":{"input_tokens":13,"output_tokens":5,"cached_input_tokens":0,"reasoning_tokens":0},"duration_ms":103.0,"case_id":"q03","variant":"a","metadata":{}}');
INSERT INTO "compared_outputs" VALUES('f09ae8fa527e3936963bd5cb694e9a9b','{"text":"Perhaps it is q03!!!","trace":[],"usage":{"input_tokens":13,"output_tokens":5,"cached_input_tokens":0,"reasoning_tokens":0},"duration_ms":103.0,"case_id":"q03","variant":"b","metadata":{}}');
INSERT INTO "compared_outputs" VALUES('1b8d2dccbce0e1c9e91e1addd5999865','{"text":"Gladly, this solves q04!!!!","trace":[],"usage":{"input_tokens":14,"output_tokens":5,"cached_input_tokens":0,"reasoning_tokens":0},"duration_ms":104.0,"case_id":"q04","variant":"a","metadata":{}}');
INSERT INTO "compared_outputs" VALUES('a97d4e272d186fba9b46bc093712198b','{"text":"Perhaps it is q04!!!!","trace":[],"usage":{"input_tokens":14,"output_tokens":5,"cached_input_tokens":0,"reasoning_tokens":0},"duration_ms":104.0,"case_id":"q04","variant":"b","metadata":{}}');
INSERT INTO "compared_outputs" VALUES('a4847a73a04a242f8667a15c45575bc2','{"text":"Perhaps it is q05!!!!!","trace":[],"usage":{"input_tokens":15,"output_tokens":5,"cached_input_tokens":0,"reasoning_tokens":0},"duration_ms":105.0,"case_id":"q05","variant":"b","metadata":{}}');
INSERT INTO "compared_outputs" VALUES('d64887d4bfd4d9c58f9fea0d9c97dcf8','{"text":"Gladly, this solves q05!!!!!","trace":[],"usage":{"input_tokens":15,"output_tokens":5,"cached_input_tokens":0,"reasoning_tokens":0},"duration_ms":105.0,"case_id":"q05","variant":"a","metadata":{}}');
INSERT INTO "compared_outputs" VALUES('54f6fd62326332866699e62f58768ce4','{"text":"Perhaps it is q06!!!!!!","trace":[],"usage":{"input_tokens":16,"output_tokens":5,"cached_input_tokens":0,"reasoning_tokens":0},"duration_ms":106.0,"case_id":"q06","variant":"b","metadata":{}}');
INSERT INTO "compared_outputs" VALUES('e7a750e01efac9223c97809aeb31d313','{"text":"Gladly, this solves q06!!!!!!","trace":[],"usage":{"input_tokens":16,"output_tokens":5,"cached_input_tokens":0,"reasoning_tokens":0},"duration_ms":106.0,"case_id":"q06","variant":"a","metadata":{}}');
INSERT INTO "compared_outputs" VALUES('a8d310acc6d5005d3fbf8fcad8f9c1b0','{"text":"Perhaps it is q07!!!!!!!","trace":[],"usage":{"input_tokens":17,"output_tokens":5,"cached_input_tokens":0,"reasoning_tokens":0},"duration_ms":107.0,"case_id":"q07","variant":"b","metadata":{}}');
INSERT INTO "compared_outputs" VALUES('a933d42dfa9bfbbc17b52350dd24ac25','{"text":"Gladly, this solves q07!!!!!!!","trace":[],"usage":{"input_tokens":17,"output_tokens":5,"cached_input_tokens":0,"reasoning_tokens":0},"duration_ms":107.0,"case_id":"q07","variant":"a","metadata":{}}');
INSERT INTO "compared_outputs" VALUES('6fc505cb65875314eb3072a1a2c2111c','{"text":"Perhaps it is q08!!!!!!!!","trace":[],"usage":{"input_tokens":18,"output_tokens":5,"cached_input_tokens":0,"reasoning_tokens":0},"duration_ms":108.0,"case_id":"q08","variant":"b","metadata":{}}');
INSERT INTO "compared_outputs" VALUES('7d2503f52442253712a8bffc5b62a8d7','{"text":"Gladly, this solves q08!!!!!!!!","trace":[],"usage":{"input_tokens":18,"output_tokens":5,"cached_input_tokens":0,"reasoning_tokens":0},"duration_ms":108.0,"case_id":"q08","variant":"a","metadata":{}}');
INSERT INTO "compared_outputs" VALUES('7d46ded081b59ba176950d4be4b55a44','{"text":"Perhaps it is q09!!!!!!!!!","trace":[],"usage":{"input_tokens":19,"output_tokens":5,"cached_input_tokens":0,"reasoning_tokens":0},"duration_ms":109.0,"case_id":"q09","variant":"b","metadata":{}}');
INSERT INTO "compared_outputs" VALUES('ed3275f7fa40524e66a63a38fb182095','{"text":"Gladly, this solves q09!!!!!!!!!","trace":[],"usage":{"input_tokens":19,"output_tokens":5,"cached_input_tokens":0,"reasoning_tokens":0},"duration_ms":109.0,"case_id":"q09","variant":"a","metadata":{}}');
INSERT INTO "compared_outputs" VALUES('52e365ae8d6b1af118c0827e52be032a','{"text":"Gladly, this solves q10!!!!!!!!!!","trace":[],"usage":{"input_tokens":20,"output_tokens":5,"cached_input_tokens":0,"reasoning_tokens":0},"duration_ms":110.0,"case_id":"q10","variant":"a","metadata":{}}');
INSERT INTO "compared_outputs" VALUES('e88ff3bf7f8f2380847fb64d8ca1c7fe','{"text":"Perhaps it is q10!!!!!!!!!!","trace":[],"usage":{"input_tokens":20,"output_tokens":5,"cached_input_tokens":0,"reasoning_tokens":0},"duration_ms":110.0,"case_id":"q10","variant":"b","metadata":{}}');
INSERT INTO "compared_outputs" VALUES('0a51a0ae0cc70f166edf849aa4071565','{"text":"Gladly, this solves q11!!!!!!!!!!!","trace":[],"usage":{"input_tokens":21,"output_tokens":5,"cached_input_tokens":0,"reasoning_tokens":0},"duration_ms":111.0,"case_id":"q11","variant":"a","metadata":{}}');
INSERT INTO "compared_outputs" VALUES('9c73a86349a2a0d5a6b3c2d2c93e377a','{"text":"Perhaps it is q11!!!!!!!!!!!","trace":[],"usage":{"input_tokens":21,"output_tokens":5,"cached_input_tokens":0,"reasoning_tokens":0},"duration_ms":111.0,"case_id":"q11","variant":"b","metadata":{}}');
CREATE TABLE compared_pairs (
	comparison_no BIGINT NOT NULL, 
	place BIGINT NOT NULL, 
	case_id TEXT NOT NULL, 
	case_key TEXT NOT NULL, 
	repeat BIGINT NOT NULL, 
	a_key TEXT NOT NULL, 
	b_key TEXT NOT NULL, 
	is_done BOOLEAN NOT NULL, 
	PRIMARY KEY (comparison_no, place), 
	FOREIGN KEY(comparison_no) REFERENCES comparisons (no), 
	UNIQUE (comparison_no, case_id, repeat), 
	FOREIGN KEY(case_key) REFERENCES cases ("key"), 
	FOREIGN KEY(a_key) REFERENCES compared_outputs ("key"), 
	FOREIGN KEY(b_key) REFERENCES compared_outputs ("key")
);
INSERT INTO "compared_pairs" VALUES(1,0,'q00','4cf56732a84eb0dec6ffb78ab5a65cf3',0,'42ba1b8ce88e184377e7b71ff2af76f3','e7478c3fbfcbb4df6896601e2ad4f44e',1);
INSERT INTO "compared_pairs" VALUES(1,1,'q01','db1127096a2fbc2274d4a06cdfc64e0f',0,'8cd02b8cce9a38b095c71dd82f9c423f','eac1917eee02eaed3747fc9cc2b81f71',1);
INSERT INTO "compared_pairs" VALUES(1,2,'q02','9a5504d9b70549db9ce081feb9c0d3ca',0,'60c1ba30c5b677427172be1430180c05','94b02525223a4a2fbddd63820821e50c',1);
INSERT INTO "compared_pairs" VALUES(1,3,'q03','a9b03073e622cfd60cd66fbe5cbe4925',0,'3db51742373c739e7f2c07acc9724dd5','f09ae8fa527e3936963bd5cb694e9a9b',1);
INSERT INTO "compared_pairs" VALUES(1,4,'q04','d7e9fdb6d733e1cc1112cf0784fabd31',0,'1b8d2dccbce0e1c9e91e1addd5999865','a97d4e272d186fba9b46bc093712198b',1);
INSERT INTO "compared_pairs" VALUES(1,5,'q05','f4297cad547402e5e7c88a898126a951',0,'d64887d4bfd4d9c58f9fea0d9c97dcf8','a4847a73a04a242f8667a15c45575bc2',1);
INSERT INTO "compared_pairs" VALUES(1,6,'q06','ac745b95924bda4c9a3a80a4e6f42f0c',0,'e7a750e01efac9223c97809aeb31d313','54f6fd62326332866699e62f58768ce4',1);
INSERT INTO "compared_pairs" VALUES(1,7,'q07','149a4e8fecb80cfe9311ad166c31b6ab',0,'a933d42dfa9bfbbc17b52350dd24ac25','a8d310acc6d5005d3fbf8fcad8f9c1b0',1);
INSERT INTO "compared_pairs" VALUES(1,8,'q08','356e57dc7873c147405e57c1eed6c2ad',0,'7d2503f52442253712a8bffc5b62a8d7','6fc505cb65875314eb3072a1a2c2111c',1);
INSERT INTO "compared_pairs" VALUES(1,9,'q09','87c82757b7717c20497c02ccb0e10bad',0,'ed3275f7fa40524e66a63a38fb182095','7d46ded081b59ba176950d4be4b55a44',1);
INSERT INTO "compared_pairs" VALUES(1,10,'q10','2592dc3e7cf4aa499b115f66e3c25845',0,'52e365ae8d6b1af118c0827e52be032a','e88ff3bf7f8f2380847fb64d8ca1c7fe',1);
INSERT INTO "compared_pairs" VALUES(1,11,'q11','f70c55b431a92d2c11a842c92265e251',0,'0a51a0ae0cc70f166edf849aa4071565','9c73a86349a2a0d5a6b3c2d2c93e377a',1);
CREATE TABLE comparison_sides (
	comparison_no INTEGER NOT NULL, 
	side TEXT NOT NULL, 
	label TEXT NOT NULL, 
	variant TEXT, 
	run_id TEXT, 
	version TEXT, 
	PRIMARY KEY (comparison_no, side), 
	FOREIGN KEY(comparison_no) REFERENCES comparisons (no)
);
INSERT INTO "comparison_sides" VALUES(1,'a','a','a',NULL,'3c9f0292f8e51f4223f08bf0f1268c83e38508b3d5941e7adb42bc9f4091d96e');
INSERT INTO "comparison_sides" VALUES(1,'b','b','b',NULL,'ed6c388918ad663d6dbfd65c777a2927941f2dc9dd1a279f595d3758a6e89718');
CREATE TABLE comparisons (
	no INTEGER NOT NULL, 
	id TEXT NOT NULL, 
	suite TEXT, 
	rubric_key TEXT NOT NULL, 
	judge TEXT NOT NULL, 
	started_at TEXT NOT NULL, 
	finished_at TEXT, 
	status TEXT NOT NULL, 
	reason TEXT, 
	json TEXT NOT NULL, 
	PRIMARY KEY (no), 
	UNIQUE (id), 
	FOREIGN KEY(rubric_key) REFERENCES rubrics ("key")
);
INSERT INTO "comparisons" VALUES(1,'cmp-20261122T213414Z-0b25','lab','49440d32e30aaee446e6d9ee37238347','recorded:replies.jsonl pairwise/criterion@7fcfa1f7a890','2026-11-22T21:34:14.146488+00:00','2026-11-22T21:34:14.176767+00:00','complete',NULL,'{"id":"cmp-20261122T213414Z-0b25","a":{"label":"a","variant":"a","run_id":null,"file":"outputs/a.jsonl","version":{"fingerprint":"3c9f0292f8e51f4223f08bf0f1268c83e38508b3d5941e7adb42bc9f4091d96e","prompt_fingerprint":null,"prompt":null,"model":null,"outputs":"outputs/a.jsonl"}},"b":{"label":"b","variant":"b","run_id":null,"file":"outputs/b.jsonl","version":{"fingerprint":"ed6c388918ad663d6dbfd65c777a2927941f2dc9dd1a279f595d3758a6e89718","prompt_fingerprint":null,"prompt":null,"model":null,"outputs":"outputs/b.jsonl"}},"suite":"lab","rubric":{"name":"helpfulness","criteria":[{"name":"helpful","question":"Does the answer solve the problem that the customer describes?","scale":{"min":1.0,"max":5.0,"integer":true,"levels":[{"value":5.0,"name":"exemplary","description":"Met in full; every nuance is covered."},{"value":4.0,"name":"good","description":"Met well, with nuance."},{"value":3.0,"name":"minimal","description":"Met, but only just; superficial."},{"value":2.0,"name":"partial","description":"Partly addressed; significant gaps."},{"value":1.0,"name":"missing","description":"Not addressed, or contradicted."}],"between_levels":true},"scoring_guide":null,"weight":2.0,"required":true,"pass_value":0.5,"description":null},{"name":"brief","question":"Is the answer three sentences long at most?","scale":{"min":0.0,"max":1.0,"integer":true,"levels":[{"value":1.0,"name":"yes","description":"The criterion is met."},{"value":0.0,"name":"no","description":"The criterion is not met."}],"between_levels":true},"scoring_guide":null,"weight":1.0,"required":false,"pass_value":null,"description":null}],"pass_threshold":0.7,"description":null,"version":1,"active":true,"metadata":{}},"judge":"recorded:replies.jsonl pairwise/criterion@7fcfa1f7a890","parameters":{"temperature":0.0},"repeats":1,"panel":[],"rule":"consistent","scrub":true,"draw_labels":true,"label_seed":0,"names":["a.jsonl","a","b.jsonl","b"],"chosen":{},"alpha":0.05,"until_decided":false,"max_cases":null,"n_pairs":12,"left_out":{"n_only_a":0,"n_only_b":0,"n_other_input":0,"only_a":[],"only_b":[],"other_input":[]},"parts":{"a":"cfbe129aa94a8505","b":"bd55a6d83e827cb5","rubric":"19b3cea1060ee2c6","judge":"0aa1a0f66319f61e","chosen":"44136fa355b3678a","stopping":"3390d42f360b3061"},"started_at":"2026-11-22T21:34:14.146488Z","finished_at":null,"status":"running","reason":null,"triggered_by":null}');
CREATE TABLE configs (
	"key" TEXT NOT NULL, 
	json TEXT NOT NULL, 
	PRIMARY KEY ("key")
);
INSERT INTO "configs" VALUES('e37d784c60b70334107a423101e06b37d3ce3d1705c75423844ac7f7f6901ce2','{"asked":{"combine":"mean","judges":[{"asks_all":false,"judge":"recorded:replies.jsonl pointwise/criterion@18557e6b9fd5","parameters":{"temperature":0.0},"repeats":1}],"weights":[]},"assertions":[],"chosen":{"limit":3,"variants":["a"]},"columns":{},"compare":{"draw_labels":true,"rule":"consistent","scrub":true,"seed":0},"dataset":"cases.jsonl","judge":[{"logprobs":false,"max_concurrency":32,"max_retries":5,"mode":"per_criterion","model":"recorded:replies.jsonl","parameters":{},"repeats":1,"temperature":0.0,"timeout_s":60.0,"weight":1.0}],"name":"lab","parts":{"assertions":"4f53cda18c2baa0c","cases":"726fa3c6508b1545","groups":"4f53cda18c2baa0c","judges":"afac69891a8878da","rubric":"8b9ba38f7490281b","settings":"dab02b9e8907fff8","variants":"512c8e97cf84b1e7"},"prices":{},"rubric":"rubric.yaml","scorers":[],"settings":{"environment":{},"fail_fast":false,"in_sequence":false,"repeats":1,"retry_failed":0},"suites":[],"tags":[],"variants":[{"environment":{},"id":"a","model_by_node":{},"outputs":"outputs/a.jsonl","parameters":{},"provider_by_node":{},"tags":[]},{"environment":{},"id":"b","model_by_node":{},"outputs":"outputs/b.jsonl","parameters":{},"provider_by_node":{},"tags":[]},{"environment":{},"id":"c","model_by_node":{},"outputs":"outputs/c.jsonl","parameters":{},"provider_by_node":{},"tags":[]}],"version":1,"versions":{"a":{"fingerprint":"3c9f0292f8e51f4223f08bf0f1268c83e38508b3d5941e7adb42bc9f4091d96e","outputs":"outputs/a.jsonl"}}}');
CREATE TABLE criteria (
	rubric_key TEXT NOT NULL, 
	place BIGINT NOT NULL, 
	name TEXT NOT NULL, 
	fingerprint TEXT NOT NULL, 
	weight DOUBLE NOT NULL, 
	is_required BOOLEAN NOT NULL, 
	PRIMARY KEY (rubric_key, place), 
	FOREIGN KEY(rubric_key) REFERENCES rubrics ("key")
);
INSERT INTO "criteria" VALUES('49440d32e30aaee446e6d9ee37238347',0,'helpful','5db4e990f2cf40c8b468000d2f9f6e583c76a33f3a0b0af7ae59cd95f2c3726d',2.0,1);
INSERT INTO "criteria" VALUES('49440d32e30aaee446e6d9ee37238347',1,'brief','21be8a9e8f78a7e7cec169b7ad5ceb11cd5843300f7a0024150cf138b76f287c',1.0,0);
CREATE TABLE judge_failures (
	no INTEGER NOT NULL, 
	run_no BIGINT NOT NULL, 
	place BIGINT NOT NULL, 
	variant_no BIGINT NOT NULL, 
	repeat BIGINT NOT NULL, 
	slot TEXT NOT NULL, 
	at TEXT NOT NULL, 
	criterion TEXT NOT NULL, 
	judge TEXT NOT NULL, 
	judge_repeat BIGINT NOT NULL, 
	kind TEXT NOT NULL, 
	cost_usd DOUBLE, 
	json TEXT NOT NULL, 
	superseded_at TEXT, 
	PRIMARY KEY (no), 
	FOREIGN KEY(run_no, place, variant_no, repeat) REFERENCES answers (run_no, place, variant_no, repeat)
);
CREATE TABLE judgekit_schema (
	version BIGINT NOT NULL, 
	judgekit TEXT NOT NULL, 
	applied_at TEXT NOT NULL, 
	PRIMARY KEY (version)
);
INSERT INTO "judgekit_schema" VALUES(3,'0.1.0','2026-11-22T21:34:13.639999+00:00');
CREATE TABLE judgments (
	no INTEGER NOT NULL, 
	run_no BIGINT NOT NULL, 
	place BIGINT NOT NULL, 
	variant_no BIGINT NOT NULL, 
	repeat BIGINT NOT NULL, 
	slot TEXT NOT NULL, 
	at TEXT NOT NULL, 
	criterion TEXT NOT NULL, 
	judge TEXT NOT NULL, 
	judge_repeat BIGINT NOT NULL, 
	raw DOUBLE NOT NULL, 
	value DOUBLE NOT NULL, 
	confidence DOUBLE, 
	source TEXT NOT NULL, 
	cost_usd DOUBLE, 
	json TEXT NOT NULL, 
	superseded_at TEXT, 
	PRIMARY KEY (no), 
	FOREIGN KEY(run_no, place, variant_no, repeat) REFERENCES answers (run_no, place, variant_no, repeat)
);
INSERT INTO "judgments" VALUES(1,1,0,0,0,'9867502d01e52a06a1c4a1a5a8ea9451','2026-11-22T21:34:13.705214+00:00','helpful','recorded:replies.jsonl pointwise/criterion@18557e6b9fd5',0,5.0,1.0,0.8,'llm',0.0,'{"criterion":"helpful","raw":5.0,"value":1.0,"rationale":"It is worth 5.","evidence":[],"confidence":0.8,"stated_confidence":0.8,"source":"llm","judge":"recorded:replies.jsonl pointwise/criterion@18557e6b9fd5","case_id":"q00","variant":"a","repeat":0,"cached":false,"cost_usd":0.0,"price_usd":0.0,"n_calls":1,"reply_key":"9ec5ddf756f9d613d6eaade483eacb9181bee4fab4c7c572e0a26af10b80fa52","dropped_parameters":[],"flags":[]}',NULL);
INSERT INTO "judgments" VALUES(2,1,0,0,0,'d26fdd7e25b8543984649e79518d7abd','2026-11-22T21:34:13.705248+00:00','brief','recorded:replies.jsonl pointwise/criterion@18557e6b9fd5',0,1.0,1.0,0.8,'llm',0.0,'{"criterion":"brief","raw":1.0,"value":1.0,"rationale":"It is worth 1.","evidence":[],"confidence":0.8,"stated_confidence":0.8,"source":"llm","judge":"recorded:replies.jsonl pointwise/criterion@18557e6b9fd5","case_id":"q00","variant":"a","repeat":0,"cached":false,"cost_usd":0.0,"price_usd":0.0,"n_calls":1,"reply_key":"40ec4c485b3a5ccd51334d19bb6eccb3843f42c6cf5a2ab23ee7a9de2798dd4e","dropped_parameters":[],"flags":[]}',NULL);
INSERT INTO "judgments" VALUES(3,1,1,0,0,'9867502d01e52a06a1c4a1a5a8ea9451','2026-11-22T21:34:13.705270+00:00','helpful','recorded:replies.jsonl pointwise/criterion@18557e6b9fd5',0,2.0,0.25,0.8,'llm',0.0,'{"criterion":"helpful","raw":2.0,"value":0.25,"rationale":"It is worth 2.","evidence":[],"confidence":0.8,"stated_confidence":0.8,"source":"llm","judge":"recorded:replies.jsonl pointwise/criterion@18557e6b9fd5","case_id":"q01","variant":"a","repeat":0,"cached":false,"cost_usd":0.0,"price_usd":0.0,"n_calls":1,"reply_key":"29a582939070caf1cd8532c834be09db075e06e271adb419736d49b6e2b13d0c","dropped_parameters":[],"flags":[]}',NULL);
INSERT INTO "judgments" VALUES(4,1,1,0,0,'d26fdd7e25b8543984649e79518d7abd','2026-11-22T21:34:13.705281+00:00','brief','recorded:replies.jsonl pointwise/criterion@18557e6b9fd5',0,1.0,1.0,0.8,'llm',0.0,'{"criterion":"brief","raw":1.0,"value":1.0,"rationale":"It is worth 1.","evidence":[],"confidence":0.8,"stated_confidence":0.8,"source":"llm","judge":"recorded:replies.jsonl pointwise/criterion@18557e6b9fd5","case_id":"q01","variant":"a","repeat":0,"cached":false,"cost_usd":0.0,"price_usd":0.0,"n_calls":1,"reply_key":"84a548d3007aba21ff0f13bc52f52331c8f5f179841701f59fd75ce65fa129ce","dropped_parameters":[],"flags":[]}',NULL);
INSERT INTO "judgments" VALUES(5,1,2,0,0,'9867502d01e52a06a1c4a1a5a8ea9451','2026-11-22T21:34:13.705298+00:00','helpful','recorded:replies.jsonl pointwise/criterion@18557e6b9fd5',0,4.0,0.75,0.8,'llm',0.0,'{"criterion":"helpful","raw":4.0,"value":0.75,"rationale":"It is worth 4.","evidence":[],"confidence":0.8,"stated_confidence":0.8,"source":"llm","judge":"recorded:replies.jsonl pointwise/criterion@18557e6b9fd5","case_id":"q02","variant":"a","repeat":0,"cached":false,"cost_usd":0.0,"price_usd":0.0,"n_calls":1,"reply_key":"47e5f20cd92e95cbf5dd96edbea341856c0b544bf799a91bc61b1803d2fe07bf","dropped_parameters":[],"flags":[]}',NULL);
INSERT INTO "judgments" VALUES(6,1,2,0,0,'d26fdd7e25b8543984649e79518d7abd','2026-11-22T21:34:13.705308+00:00','brief','recorded:replies.jsonl pointwise/criterion@18557e6b9fd5',0,1.0,1.0,0.8,'llm',0.0,'{"criterion":"brief","raw":1.0,"value":1.0,"rationale":"It is worth 1.","evidence":[],"confidence":0.8,"stated_confidence":0.8,"source":"llm","judge":"recorded:replies.jsonl pointwise/criterion@18557e6b9fd5","case_id":"q02","variant":"a","repeat":0,"cached":false,"cost_usd":0.0,"price_usd":0.0,"n_calls":1,"reply_key":"f51e48c91446234f8da16b2675dfbc62d14ff8eceae873764419a98e6ddcd336","dropped_parameters":[],"flags":[]}',NULL);
CREATE TABLE outputs (
	no INTEGER NOT NULL, 
	run_no BIGINT NOT NULL, 
	place BIGINT NOT NULL, 
	variant_no BIGINT NOT NULL, 
	repeat BIGINT NOT NULL, 
	at TEXT NOT NULL, 
	size BIGINT NOT NULL, 
	is_error BOOLEAN NOT NULL, 
	error_kind TEXT, 
	agent_run TEXT, 
	json TEXT NOT NULL, 
	superseded_at TEXT, 
	PRIMARY KEY (no), 
	FOREIGN KEY(run_no, place, variant_no, repeat) REFERENCES answers (run_no, place, variant_no, repeat)
);
INSERT INTO "outputs" VALUES(1,1,0,0,0,'2026-11-22T21:34:13.687994+00:00',200,0,NULL,NULL,'{"text":"Gladly, this solves q00","trace":[],"usage":{"input_tokens":10,"output_tokens":5,"cached_input_tokens":0,"reasoning_tokens":0},"duration_ms":100.0,"case_id":"q00","variant":"a","metadata":{}}',NULL);
INSERT INTO "outputs" VALUES(2,1,1,0,0,'2026-11-22T21:34:13.688337+00:00',201,0,NULL,NULL,'{"text":"Gladly, this solves q01!","trace":[],"usage":{"input_tokens":11,"output_tokens":5,"cached_input_tokens":0,"reasoning_tokens":0},"duration_ms":101.0,"case_id":"q01","variant":"a","metadata":{}}',NULL);
INSERT INTO "outputs" VALUES(3,1,2,0,0,'2026-11-22T21:34:13.688500+00:00',202,0,NULL,NULL,'{"text":"Gladly, this solves q02!!","trace":[],"usage":{"input_tokens":12,"output_tokens":5,"cached_input_tokens":0,"reasoning_tokens":0},"duration_ms":102.0,"case_id":"q02","variant":"a","metadata":{}}',NULL);
CREATE TABLE preferences (
	no INTEGER NOT NULL, 
	comparison_no BIGINT NOT NULL, 
	place BIGINT NOT NULL, 
	slot TEXT NOT NULL, 
	at TEXT NOT NULL, 
	shown TEXT NOT NULL, 
	criterion TEXT, 
	judge TEXT NOT NULL, 
	judge_repeat BIGINT NOT NULL, 
	choice TEXT, 
	failure_kind TEXT, 
	cost_usd DOUBLE, 
	json TEXT NOT NULL, 
	superseded_at TEXT, 
	PRIMARY KEY (no), 
	FOREIGN KEY(comparison_no, place) REFERENCES compared_pairs (comparison_no, place)
);
INSERT INTO "preferences" VALUES(1,1,0,'58da248c7ba3de2d4cdfeb8246a193e5','2026-11-22T21:34:14.163856+00:00','ab','helpful','recorded:replies.jsonl pairwise/criterion@7fcfa1f7a890',0,'first',NULL,0.0,'{"order":"ab","criterion":"helpful","case_id":"q00","variant_first":"a","variant_second":"b","repeat":0,"judge":"recorded:replies.jsonl pairwise/criterion@7fcfa1f7a890","cached":false,"cost_usd":0.0,"price_usd":0.0,"usage":null,"n_calls":1,"reply_key":"3d56c10daf1a3ae16cb68b25d5e18137d0a60d50ae25fcf9d0a78ad6374ab013","choice":"first","rationale":"In this order it is first.","evidence_first":[],"evidence_second":[],"confidence":0.9,"stated_confidence":0.9,"logprob_first":null,"raw_first":8.0,"raw_second":4.0,"source":"llm","model":null,"duration_ms":null,"dropped_parameters":[],"flags":[]}',NULL);
INSERT INTO "preferences" VALUES(2,1,0,'8b8ce9355960296631516f1e8cff98cd','2026-11-22T21:34:14.163856+00:00','ab','brief','recorded:replies.jsonl pairwise/criterion@7fcfa1f7a890',0,'first',NULL,0.0,'{"order":"ab","criterion":"brief","case_id":"q00","variant_first":"a","variant_second":"b","repeat":0,"judge":"recorded:replies.jsonl pairwise/criterion@7fcfa1f7a890","cached":false,"cost_usd":0.0,"price_usd":0.0,"usage":null,"n_calls":1,"reply_key":"10a7fa8b36d962f1baba7263f7caa142ef108dabc8d493abfa0ca3d2c89ec766","choice":"first","rationale":"In this order it is first.","evidence_first":[],"evidence_second":[],"confidence":0.9,"stated_confidence":0.9,"logprob_first":null,"raw_first":8.0,"raw_second":4.0,"source":"llm","model":null,"duration_ms":null,"dropped_parameters":[],"flags":[]}',NULL);
INSERT INTO "preferences" VALUES(3,1,0,'0b38b857c2e41cda0ef8f7587010a0c9','2026-11-22T21:34:14.163856+00:00','ba','helpful','recorded:replies.jsonl pairwise/criterion@7fcfa1f7a890',0,'second',NULL,0.0,'{"order":"ba","criterion":"helpful","case_id":"q00","variant_first":"b","variant_second":"a","repeat":0,"judge":"recorded:replies.jsonl pairwise/criterion@7fcfa1f7a890","cached":false,"cost_usd":0.0,"price_usd":0.0,"usage":null,"n_calls":1,"reply_key":"16b3e6de9853f460f5d49ef4036fd54e1c26225aa015f4ef0531068ae8bedd5b","choice":"second","rationale":"In this order it is second.","evidence_first":[],"evidence_second":[],"confidence":0.9,"stated_confidence":0.9,"logprob_first":null,"raw_first":4.0,"raw_second":8.0,"source":"llm","model":null,"duration_ms":null,"dropped_parameters":[],"flags":[]}',NULL);
INSERT INTO "preferences" VALUES(4,1,0,'c558bf0d9751b8d374976b6c05574b5f','2026-11-22T21:34:14.163856+00:00','ba','brief','recorded:replies.jsonl pairwise/criterion@7fcfa1f7a890',0,'second',NULL,0.0,'{"order":"ba","criterion":"brief","case_id":"q00","variant_first":"b","variant_second":"a","repeat":0,"judge":"recorded:replies.jsonl pairwise/criterion@7fcfa1f7a890","cached":false,"cost_usd":0.0,"price_usd":0.0,"usage":null,"n_calls":1,"reply_key":"d60974e7a51cb6a096944aee3c6b81ef1c611baebdfd875f08850898db6f58a5","choice":"second","rationale":"In this order it is second.","evidence_first":[],"evidence_second":[],"confidence":0.9,"stated_confidence":0.9,"logprob_first":null,"raw_first":4.0,"raw_second":8.0,"source":"llm","model":null,"duration_ms":null,"dropped_parameters":[],"flags":[]}',NULL);
INSERT INTO "preferences" VALUES(5,1,1,'58da248c7ba3de2d4cdfeb8246a193e5','2026-11-22T21:34:14.163856+00:00','ab','helpful','recorded:replies.jsonl pairwise/criterion@7fcfa1f7a890',0,'first',NULL,0.0,'{"order":"ab","criterion":"helpful","case_id":"q01","variant_first":"a","variant_second":"b","repeat":0,"judge":"recorded:replies.jsonl pairwise/criterion@7fcfa1f7a890","cached":false,"cost_usd":0.0,"price_usd":0.0,"usage":null,"n_calls":1,"reply_key":"8ce0918fc1bc1bd6e297cd8329565adbd245a3756c693e02abfa1fde3d001ce5","choice":"first","rationale":"In this order it is first.","evidence_first":[],"evidence_second":[],"confidence":0.9,"stated_confidence":0.9,"logprob_first":null,"raw_first":8.0,"raw_second":4.0,"source":"llm","model":null,"duration_ms":null,"dropped_parameters":[],"flags":[]}',NULL);
INSERT INTO "preferences" VALUES(6,1,1,'8b8ce9355960296631516f1e8cff98cd','2026-11-22T21:34:14.163856+00:00','ab','brief','recorded:replies.jsonl pairwise/criterion@7fcfa1f7a890',0,'first',NULL,0.0,'{"order":"ab","criterion":"brief","case_id":"q01","variant_first":"a","variant_second":"b","repeat":0,"judge":"recorded:replies.jsonl pairwise/criterion@7fcfa1f7a890","cached":false,"cost_usd":0.0,"price_usd":0.0,"usage":null,"n_calls":1,"reply_key":"297f14f8c115bc462a4932b5e5ce947680b505cde165db8571f7da04f74491d0","choice":"first","rationale":"In this order it is first.","evidence_first":[],"evidence_second":[],"confidence":0.9,"stated_confidence":0.9,"logprob_first":null,"raw_first":8.0,"raw_second":4.0,"source":"llm","model":null,"duration_ms":null,"dropped_parameters":[],"flags":[]}',NULL);
INSERT INTO "preferences" VALUES(7,1,1,'0b38b857c2e41cda0ef8f7587010a0c9','2026-11-22T21:34:14.163856+00:00','ba','helpful','recorded:replies.jsonl pairwise/criterion@7fcfa1f7a890',0,'second',NULL,0.0,'{"order":"ba","criterion":"helpful","case_id":"q01","variant_first":"b","variant_second":"a","repeat":0,"judge":"recorded:replies.jsonl pairwise/criterion@7fcfa1f7a890","cached":false,"cost_usd":0.0,"price_usd":0.0,"usage":null,"n_calls":1,"reply_key":"7170e420e91d7c1bfcb0638c29accb0fea5230c2604dd4e930660641ab469645","choice":"second","rationale":"In this order it is second.","evidence_first":[],"evidence_second":[],"confidence":0.9,"stated_confidence":0.9,"logprob_first":null,"raw_first":4.0,"raw_second":8.0,"source":"llm","model":null,"duration_ms":null,"dropped_parameters":[],"flags":[]}',NULL);
INSERT INTO "preferences" VALUES(8,1,1,'c558bf0d9751b8d374976b6c05574b5f','2026-11-22T21:34:14.163856+00:00','ba','brief','recorded:replies.jsonl pairwise/criterion@7fcfa1f7a890',0,'second',NULL,0.0,'{"order":"ba","criterion":"brief","case_id":"q01","variant_first":"b","variant_second":"a","repeat":0,"judge":"recorded:replies.jsonl pairwise/criterion@7fcfa1f7a890","cached":false,"cost_usd":0.0,"price_usd":0.0,"usage":null,"n_calls":1,"reply_key":"0b2ad0fab2ca5b95cd6204f9b65da405f2d25af9bc162b374162a1d0d75c951b","choice":"second","rationale":"In this order it is second.","evidence_first":[],"evidence_second":[],"confidence":0.9,"stated_confidence":0.9,"logprob_first":null,"raw_first":4.0,"raw_second":8.0,"source":"llm","model":null,"duration_ms":null,"dropped_parameters":[],"flags":[]}',NULL);
INSERT INTO "preferences" VALUES(9,1,2,'58da248c7ba3de2d4cdfeb8246a193e5','2026-11-22T21:34:14.163856+00:00','ab','helpful','recorded:replies.jsonl pairwise/criterion@7fcfa1f7a890',0,'first',NULL,0.0,'{"order":"ab","criterion":"helpful","case_id":"q02","variant_first":"a","variant_second":"b","repeat":0,"judge":"recorded:replies.jsonl pairwise/criterion@7fcfa1f7a890","cached":false,"cost_usd":0.0,"price_usd":0.0,"usage":null,"n_calls":1,"reply_key":"9080ec665421e1f623673912a7ee6d4e4039486950322d2462f0491dad28a20d","choice":"first","rationale":"In this order it is first.","evidence_first":[],"evidence_second":[],"confidence":0.9,"stated_confidence":0.9,"logprob_first":null,"raw_first":8.0,"raw_second":4.0,"source":"llm","model":null,"duration_ms":null,"dropped_parameters":[],"flags":[]}',NULL);
INSERT INTO "preferences" VALUES(10,1,2,'8b8ce9355960296631516f1e8cff98cd','2026-11-22T21:34:14.163856+00:00','ab','brief','recorded:replies.jsonl pairwise/criterion@7fcfa1f7a890',0,'first',NULL,0.0,'{"order":"ab","criterion":"brief","case_id":"q02","variant_first":"a","variant_second":"b","repeat":0,"judge":"recorded:replies.jsonl pairwise/criterion@7fcfa1f7a890","cached":false,"cost_usd":0.0,"price_usd":0.0,"usage":null,"n_calls":1,"reply_key":"1bddb79efbdbf153122b5a13b3fab0319cb92b7002c50e0085f3043b74a41a2c","choice":"first","rationale":"In this order it is first.","evidence_first":[],"evidence_second":[],"confidence":0.9,"stated_confidence":0.9,"logprob_first":null,"raw_first":8.0,"raw_second":4.0,"source":"llm","model":null,"duration_ms":null,"dropped_parameters":[],"flags":[]}',NULL);
INSERT INTO "preferences" VALUES(11,1,2,'0b38b857c2e41cda0ef8f7587010a0c9','2026-11-22T21:34:14.163856+00:00','ba','helpful','recorded:replies.jsonl pairwise/criterion@7fcfa1f7a890',0,'second',NULL,0.0,'{"order":"ba","criterion":"helpful","case_id":"q02","variant_first":"b","variant_second":"a","repeat":0,"judge":"recorded:replies.jsonl pairwise/criterion@7fcfa1f7a890","cached":false,"cost_usd":0.0,"price_usd":0.0,"usage":null,"n_calls":1,"reply_key":"69497456df6e542b711d3398ae9f59599a5e0ba48024b36a58d961887c0e9a6f","choice":"second","rationale":"In this order it is second.","evidence_first":[],"evidence_second":[],"confidence":0.9,"stated_confidence":0.9,"logprob_first":null,"raw_first":4.0,"raw_second":8.0,"source":"llm","model":null,"duration_ms":null,"dropped_parameters":[],"flags":[]}',NULL);
INSERT INTO "preferences" VALUES(12,1,2,'c558bf0d9751b8d374976b6c05574b5f','2026-11-22T21:34:14.163856+00:00','ba','brief','recorded:replies.jsonl pairwise/criterion@7fcfa1f7a890',0,'second',NULL,0.0,'{"order":"ba","criterion":"brief","case_id":"q02","variant_first":"b","variant_second":"a","repeat":0,"judge":"recorded:replies.jsonl pairwise/criterion@7fcfa1f7a890","cached":false,"cost_usd":0.0,"price_usd":0.0,"usage":null,"n_calls":1,"reply_key":"1762ca53251fe2498d21167cb987d406ce4bb2f6b6e9c319aaf63be8aa782a8a","choice":"second","rationale":"In this order it is second.","evidence_first":[],"evidence_second":[],"confidence":0.9,"stated_confidence":0.9,"logprob_first":null,"raw_first":4.0,"raw_second":8.0,"source":"llm","model":null,"duration_ms":null,"dropped_parameters":[],"flags":[]}',NULL);
INSERT INTO "preferences" VALUES(13,1,3,'58da248c7ba3de2d4cdfeb8246a193e5','2026-11-22T21:34:14.163856+00:00','ab','helpful','recorded:replies.jsonl pairwise/criterion@7fcfa1f7a890',0,'first',NULL,0.0,'{"order":"ab","criterion":"helpful","case_id":"q03","variant_first":"a","variant_second":"b","repeat":0,"judge":"recorded:replies.jsonl pairwise/criterion@7fcfa1f7a890","cached":false,"cost_usd":0.0,"price_usd":0.0,"usage":null,"n_calls":1,"reply_key":"e672bdd0109c9fc8ae3464b1b90e9a46728c19d582f3d4b6f2f1823fb5551d86","choice":"first","rationale":"In this order it is first.","evidence_first":[],"evidence_second":[],"confidence":0.9,"stated_confidence":0.9,"logprob_first":null,"raw_first":8.0,"raw_second":4.0,"source":"llm","model":null,"duration_ms":null,"dropped_parameters":[],"flags":[]}',NULL);
INSERT INTO "preferences" VALUES(14,1,3,'8b8ce9355960296631516f1e8cff98cd','2026-11-22T21:34:14.163856+00:00','ab','brief','recorded:replies.jsonl pairwise/criterion@7fcfa1f7a890',0,'first',NULL,0.0,'{"order":"ab","criterion":"brief","case_id":"q03","variant_first":"a","variant_second":"b","repeat":0,"judge":"recorded:replies.jsonl pairwise/criterion@7fcfa1f7a890","cached":false,"cost_usd":0.0,"price_usd":0.0,"usage":null,"n_calls":1,"reply_key":"92dfbec8fef73a62cacfde5cb4781a2a8b5707c9c53a8a2c3c953c55241862c9","choice":"first","rationale":"In this order it is first.","evidence_first":[],"evidence_second":[],"confidence":0.9,"stated_confidence":0.9,"logprob_first":null,"raw_first":8.0,"raw_second":4.0,"source":"llm","model":null,"duration_ms":null,"dropped_parameters":[],"flags":[]}',NULL);
INSERT INTO "preferences" VALUES(15,1,3,'0b38b857c2e41cda0ef8f7587010a0c9','2026-11-22T21:34:14.163856+00:00','ba','helpful','recorded:replies.jsonl pairwise/criterion@7fcfa1f7a890',0,'second',NULL,0.0,'{"order":"ba","criterion":"helpful","case_id":"q03","variant_first":"b","variant_second":"a","repeat":0,"judge":"recorded:replies.jsonl pairwise/criterion@7fcfa1f7a890","cached":false,"cost_usd":0.0,"price_usd":0.0,"usage":null,"n_calls":1,"reply_key":"4d3c05825a9290b0fd00f575ffae1ca0ba37f25da7a47b9e1b2fa54da9c02908","choice":"second","rationale":"In this order it is second.","evidence_first":[],"evidence_second":[],"confidence":0.9,"stated_confidence":0.9,"logprob_first":null,"raw_first":4.0,"raw_second":8.0,"source":"llm","model":null,"duration_ms":null,"dropped_parameters":[],"flags":[]}',NULL);
INSERT INTO "preferences" VALUES(16,1,3,'c558bf0d9751b8d374976b6c05574b5f','2026-11-22T21:34:14.163856+00:00','ba','brief','recorded:replies.jsonl pairwise/criterion@7fcfa1f7a890',0,'second',NULL,0.0,'{"order":"ba","criterion":"brief","case_id":"q03","variant_first":"b","variant_second":"a","repeat":0,"judge":"recorded:replies.jsonl pairwise/criterion@7fcfa1f7a890","cached":false,"cost_usd":0.0,"price_usd":0.0,"usage":null,"n_calls":1,"reply_key":"a46ff0db6e706531eca3b4d17ebd8af0f571b25d0b9ec5acce15dbeec57516a7","choice":"second","rationale":"In this order it is second.","evidence_first":[],"evidence_second":[],"confidence":0.9,"stated_confidence":0.9,"logprob_first":null,"raw_first":4.0,"raw_second":8.0,"source":"llm","model":null,"duration_ms":null,"dropped_parameters":[],"flags":[]}',NULL);
INSERT INTO "preferences" VALUES(17,1,4,'58da248c7ba3de2d4cdfeb8246a193e5','2026-11-22T21:34:14.163856+00:00','ab','helpful','recorded:replies.jsonl pairwise/criterion@7fcfa1f7a890',0,'first',NULL,0.0,'{"order":"ab","criterion":"helpful","case_id":"q04","variant_first":"a","variant_second":"b","repeat":0,"judge":"recorded:replies.jsonl pairwise/criterion@7fcfa1f7a890","cached":false,"cost_usd":0.0,"price_usd":0.0,"usage":null,"n_calls":1,"reply_key":"138482511aa22466f0ba9b8a41b79c7936d6b7420282bb181caabb7579b3a6fd","choice":"first","rationale":"In this order it is first.","evidence_first":[],"evidence_second":[],"confidence":0.9,"stated_confidence":0.9,"logprob_first":null,"raw_first":8.0,"raw_second":4.0,"source":"llm","model":null,"duration_ms":null,"dropped_parameters":[],"flags":[]}',NULL);
INSERT INTO "preferences" VALUES(18,1,4,'8b8ce9355960296631516f1e8cff98cd','2026-11-22T21:34:14.163856+00:00','ab','brief','recorded:replies.jsonl pairwise/criterion@7fcfa1f7a890',0,'first',NULL,0.0,'{"order":"ab","criterion":"brief","case_id":"q04","variant_first":"a","variant_second":"b","repeat":0,"judge":"recorded:replies.jsonl pairwise/criterion@7fcfa1f7a890","cached":false,"cost_usd":0.0,"price_usd":0.0,"usage":null,"n_calls":1,"reply_key":"26079c05c185373d308bf699d0198d2c80ce031fec43685bfacbc84156599bea","choice":"first","rationale":"In this order it is first.","evidence_first":[],"evidence_second":[],"confidence":0.9,"stated_confidence":0.9,"logprob_first":null,"raw_first":8.0,"raw_second":4.0,"source":"llm","model":null,"duration_ms":null,"dropped_parameters":[],"flags":[]}',NULL);
INSERT INTO "preferences" VALUES(19,1,4,'0b38b857c2e41cda0ef8f7587010a0c9','2026-11-22T21:34:14.163856+00:00','ba','helpful','recorded:replies.jsonl pairwise/criterion@7fcfa1f7a890',0,'second',NULL,0.0,'{"order":"ba","criterion":"helpful","case_id":"q04","variant_first":"b","variant_second":"a","repeat":0,"judge":"recorded:replies.jsonl pairwise/criterion@7fcfa1f7a890","cached":false,"cost_usd":0.0,"price_usd":0.0,"usage":null,"n_calls":1,"reply_key":"10b3037de050e20f232c9e6291fccafadfb005a2067ca370dbcaa66091bbef68","choice":"second","rationale":"In this order it is second.","evidence_first":[],"evidence_second":[],"confidence":0.9,"stated_confidence":0.9,"logprob_first":null,"raw_first":4.0,"raw_second":8.0,"source":"llm","model":null,"duration_ms":null,"dropped_parameters":[],"flags":[]}',NULL);
INSERT INTO "preferences" VALUES(20,1,4,'c558bf0d9751b8d374976b6c05574b5f','2026-11-22T21:34:14.163856+00:00','ba','brief','recorded:replies.jsonl pairwise/criterion@7fcfa1f7a890',0,'second',NULL,0.0,'{"order":"ba","criterion":"brief","case_id":"q04","variant_first":"b","variant_second":"a","repeat":0,"judge":"recorded:replies.jsonl pairwise/criterion@7fcfa1f7a890","cached":false,"cost_usd":0.0,"price_usd":0.0,"usage":null,"n_calls":1,"reply_key":"b9631ad0c85580a8ea6b3d322bf4e238a5c0bfd8beff8cfb63990c48453a0b6d","choice":"second","rationale":"In this order it is second.","evidence_first":[],"evidence_second":[],"confidence":0.9,"stated_confidence":0.9,"logprob_first":null,"raw_first":4.0,"raw_second":8.0,"source":"llm","model":null,"duration_ms":null,"dropped_parameters":[],"flags":[]}',NULL);
INSERT INTO "preferences" VALUES(21,1,5,'58da248c7ba3de2d4cdfeb8246a193e5','2026-11-22T21:34:14.163856+00:00','ab','helpful','recorded:replies.jsonl pairwise/criterion@7fcfa1f7a890',0,'tie',NULL,0.0,'{"order":"ab","criterion":"helpful","case_id":"q05","variant_first":"a","variant_second":"b","repeat":0,"judge":"recorded:replies.jsonl pairwise/criterion@7fcfa1f7a890","cached":false,"cost_usd":0.0,"price_usd":0.0,"usage":null,"n_calls":1,"reply_key":"e79cb65d1f843a0ff9fa945b9b6c1b3efd0e29d1f1376068e465f18279ffa1aa","choice":"tie","rationale":"In this order it is tie.","evidence_first":[],"evidence_second":[],"confidence":0.9,"stated_confidence":0.9,"logprob_first":null,"raw_first":6.0,"raw_second":6.0,"source":"llm","model":null,"duration_ms":null,"dropped_parameters":[],"flags":[]}',NULL);
INSERT INTO "preferences" VALUES(22,1,5,'8b8ce9355960296631516f1e8cff98cd','2026-11-22T21:34:14.163856+00:00','ab','brief','recorded:replies.jsonl pairwise/criterion@7fcfa1f7a890',0,'tie',NULL,0.0,'{"order":"ab","criterion":"brief","case_id":"q05","variant_first":"a","variant_second":"b","repeat":0,"judge":"recorded:replies.jsonl pairwise/criterion@7fcfa1f7a890","cached":false,"cost_usd":0.0,"price_usd":0.0,"usage":null,"n_calls":1,"reply_key":"5b617f607d4fee452bc73d92c10b269304b9d51fa0a5ac9d10631376d54204bd","choice":"tie","rationale":"In this order it is tie.","evidence_first":[],"evidence_second":[],"confidence":0.9,"stated_confidence":0.9,"logprob_first":null,"raw_first":6.0,"raw_second":6.0,"source":"llm","model":null,"duration_ms":null,"dropped_parameters":[],"flags":[]}',NULL);
INSERT INTO "preferences" VALUES(23,1,5,'0b38b857c2e41cda0ef8f7587010a0c9','2026-11-22T21:34:14.163856+00:00','ba','helpful','recorded:replies.jsonl pairwise/criterion@7fcfa1f7a890',0,'tie',NULL,0.0,'{"order":"ba","criterion":"helpful","case_id":"q05","variant_first":"b","variant_second":"a","repeat":0,"judge":"recorded:replies.jsonl pairwise/criterion@7fcfa1f7a890","cached":false,"cost_usd":0.0,"price_usd":0.0,"usage":null,"n_calls":1,"reply_key":"d9b30d83b504d38e6a79e4ae65e08b1d135c32c883fdeef828baf4fed80c081f","choice":"tie","rationale":"In this order it is tie.","evidence_first":[],"evidence_second":[],"confidence":0.9,"stated_confidence":0.9,"logprob_first":null,"raw_first":6.0,"raw_second":6.0,"source":"llm","model":null,"duration_ms":null,"dropped_parameters":[],"flags":[]}',NULL);
INSERT INTO "preferences" VALUES(24,1,5,'c558bf0d9751b8d374976b6c05574b5f','2026-11-22T21:34:14.163856+00:00','ba','brief','recorded:replies.jsonl pairwise/criterion@7fcfa1f7a890',0,'tie',NULL,0.0,'{"order":"ba","criterion":"brief","case_id":"q05","variant_first":"b","variant_second":"a","repeat":0,"judge":"recorded:replies.jsonl pairwise/criterion@7fcfa1f7a890","cached":false,"cost_usd":0.0,"price_usd":0.0,"usage":null,"n_calls":1,"reply_key":"62c58261e2dd0f2369cf13af9cd06832dbb762d656a286014474d3a4eb0c8c51","choice":"tie","rationale":"In this order it is tie.","evidence_first":[],"evidence_second":[],"confidence":0.9,"stated_confidence":0.9,"logprob_first":null,"raw_first":6.0,"raw_second":6.0,"source":"llm","model":null,"duration_ms":null,"dropped_parameters":[],"flags":[]}',NULL);
INSERT INTO "preferences" VALUES(25,1,6,'58da248c7ba3de2d4cdfeb8246a193e5','2026-11-22T21:34:14.163856+00:00','ab','helpful','recorded:replies.jsonl pairwise/criterion@7fcfa1f7a890',0,'first',NULL,0.0,'{"order":"ab","criterion":"helpful","case_id":"q06","variant_first":"a","variant_second":"b","repeat":0,"judge":"recorded:replies.jsonl pairwise/criterion@7fcfa1f7a890","cached":false,"cost_usd":0.0,"price_usd":0.0,"usage":null,"n_calls":1,"reply_key":"b550d2dd4c4d79b726061d8d976967404d5c10b3eaa0390e2e3c16469dca2064","choice":"first","rationale":"In this order it is first.","evidence_first":[],"evidence_second":[],"confidence":0.9,"stated_confidence":0.9,"logprob_first":null,"raw_first":8.0,"raw_second":4.0,"source":"llm","model":null,"duration_ms":null,"dropped_parameters":[],"flags":[]}',NULL);
INSERT INTO "preferences" VALUES(26,1,6,'8b8ce9355960296631516f1e8cff98cd','2026-11-22T21:34:14.163856+00:00','ab','brief','recorded:replies.jsonl pairwise/criterion@7fcfa1f7a890',0,'first',NULL,0.0,'{"order":"ab","criterion":"brief","case_id":"q06","variant_first":"a","variant_second":"b","repeat":0,"judge":"recorded:replies.jsonl pairwise/criterion@7fcfa1f7a890","cached":false,"cost_usd":0.0,"price_usd":0.0,"usage":null,"n_calls":1,"reply_key":"5d31349f45c573a607d0bba9ab48c50a6d1ceba06e3145f229b826c4d985c82c","choice":"first","rationale":"In this order it is first.","evidence_first":[],"evidence_second":[],"confidence":0.9,"stated_confidence":0.9,"logprob_first":null,"raw_first":8.0,"raw_second":4.0,"source":"llm","model":null,"duration_ms":null,"dropped_parameters":[],"flags":[]}',NULL);
INSERT INTO "preferences" VALUES(27,1,6,'0b38b857c2e41cda0ef8f7587010a0c9','2026-11-22T21:34:14.163856+00:00','ba','helpful','recorded:replies.jsonl pairwise/criterion@7fcfa1f7a890',0,'first',NULL,0.0,'{"order":"ba","criterion":"helpful","case_id":"q06","variant_first":"b","variant_second":"a","repeat":0,"judge":"recorded:replies.jsonl pairwise/criterion@7fcfa1f7a890","cached":false,"cost_usd":0.0,"price_usd":0.0,"usage":null,"n_calls":1,"reply_key":"01c2ac673f999ba31f2a4a45178121dabe075b8a6b5d299d94ceb94fae230ae5","choice":"first","rationale":"In this order it is first.","evidence_first":[],"evidence_second":[],"confidence":0.9,"stated_confidence":0.9,"logprob_first":null,"raw_first":8.0,"raw_second":4.0,"source":"llm","model":null,"duration_ms":null,"dropped_parameters":[],"flags":[]}',NULL);
INSERT INTO "preferences" VALUES(28,1,6,'c558bf0d9751b8d374976b6c05574b5f','2026-11-22T21:34:14.163856+00:00','ba','brief','recorded:replies.jsonl pairwise/criterion@7fcfa1f7a890',0,'first',NULL,0.0,'{"order":"ba","criterion":"brief","case_id":"q06","variant_first":"b","variant_second":"a","repeat":0,"judge":"recorded:replies.jsonl pairwise/criterion@7fcfa1f7a890","cached":false,"cost_usd":0.0,"price_usd":0.0,"usage":null,"n_calls":1,"reply_key":"871acd0faa00f904cc7e8475aeeb7a24c39d90f0a7f8aec8b28fe4c42150106b","choice":"first","rationale":"In this order it is first.","evidence_first":[],"evidence_second":[],"confidence":0.9,"stated_confidence":0.9,"logprob_first":null,"raw_first":8.0,"raw_second":4.0,"source":"llm","model":null,"duration_ms":null,"dropped_parameters":[],"flags":[]}',NULL);
INSERT INTO "preferences" VALUES(29,1,7,'58da248c7ba3de2d4cdfeb8246a193e5','2026-11-22T21:34:14.163856+00:00','ab','helpful','recorded:replies.jsonl pairwise/criterion@7fcfa1f7a890',0,'first',NULL,0.0,'{"order":"ab","criterion":"helpful","case_id":"q07","variant_first":"a","variant_second":"b","repeat":0,"judge":"recorded:replies.jsonl pairwise/criterion@7fcfa1f7a890","cached":false,"cost_usd":0.0,"price_usd":0.0,"usage":null,"n_calls":1,"reply_key":"527991e56826bf457770a0337323d49327b68b5790f574c77cd80073d1a81bf0","choice":"first","rationale":"In this order it is first.","evidence_first":[],"evidence_second":[],"confidence":0.9,"stated_confidence":0.9,"logprob_first":null,"raw_first":8.0,"raw_second":4.0,"source":"llm","model":null,"duration_ms":null,"dropped_parameters":[],"flags":[]}',NULL);
INSERT INTO "preferences" VALUES(30,1,7,'8b8ce9355960296631516f1e8cff98cd','2026-11-22T21:34:14.163856+00:00','ab','brief','recorded:replies.jsonl pairwise/criterion@7fcfa1f7a890',0,'first',NULL,0.0,'{"order":"ab","criterion":"brief","case_id":"q07","variant_first":"a","variant_second":"b","repeat":0,"judge":"recorded:replies.jsonl pairwise/criterion@7fcfa1f7a890","cached":false,"cost_usd":0.0,"price_usd":0.0,"usage":null,"n_calls":1,"reply_key":"5f2d709b51a261f131bd992dbaac8082fc09ac9c8cda6eee3271e9a668158d31","choice":"first","rationale":"In this order it is first.","evidence_first":[],"evidence_second":[],"confidence":0.9,"stated_confidence":0.9,"logprob_first":null,"raw_first":8.0,"raw_second":4.0,"source":"llm","model":null,"duration_ms":null,"dropped_parameters":[],"flags":[]}',NULL);
INSERT INTO "preferences" VALUES(31,1,7,'0b38b857c2e41cda0ef8f7587010a0c9','2026-11-22T21:34:14.163856+00:00','ba','helpful','recorded:replies.jsonl pairwise/criterion@7fcfa1f7a890',0,'second',NULL,0.0,'{"order":"ba","criterion":"helpful","case_id":"q07","variant_first":"b","variant_second":"a","repeat":0,"judge":"recorded:replies.jsonl pairwise/criterion@7fcfa1f7a890","cached":false,"cost_usd":0.0,"price_usd":0.0,"usage":null,"n_calls":1,"reply_key":"304c51f6b257ed65cecea61d063502655b6ab1bf0975ce71e9bb2db9195fd747","choice":"second","rationale":"In this order it is second.","evidence_first":[],"evidence_second":[],"confidence":0.9,"stated_confidence":0.9,"logprob_first":null,"raw_first":4.0,"raw_second":8.0,"source":"llm","model":null,"duration_ms":null,"dropped_parameters":[],"flags":[]}',NULL);
INSERT INTO "preferences" VALUES(32,1,7,'c558bf0d9751b8d374976b6c05574b5f','2026-11-22T21:34:14.163856+00:00','ba','brief','recorded:replies.jsonl pairwise/criterion@7fcfa1f7a890',0,'second',NULL,0.0,'{"order":"ba","criterion":"brief","case_id":"q07","variant_first":"b","variant_second":"a","repeat":0,"judge":"recorded:replies.jsonl pairwise/criterion@7fcfa1f7a890","cached":false,"cost_usd":0.0,"price_usd":0.0,"usage":null,"n_calls":1,"reply_key":"8a590a0e03c62f40f32fe237dce6b54abf6d4e2e6da762995ead5ff56c2ee3af","choice":"second","rationale":"In this order it is second.","evidence_first":[],"evidence_second":[],"confidence":0.9,"stated_confidence":0.9,"logprob_first":null,"raw_first":4.0,"raw_second":8.0,"source":"llm","model":null,"duration_ms":null,"dropped_parameters":[],"flags":[]}',NULL);
INSERT INTO "preferences" VALUES(33,1,8,'58da248c7ba3de2d4cdfeb8246a193e5','2026-11-22T21:34:14.163856+00:00','ab','helpful','recorded:replies.jsonl pairwise/criterion@7fcfa1f7a890',0,'second',NULL,0.0,'{"order":"ab","criterion":"helpful","case_id":"q08","variant_first":"a","variant_second":"b","repeat":0,"judge":"recorded:replies.jsonl pairwise/criterion@7fcfa1f7a890","cached":false,"cost_usd":0.0,"price_usd":0.0,"usage":null,"n_calls":1,"reply_key":"1195436c26afc28b859d2a7c043ab069477692402ac4c28ff7b8ba7ccdfa51d8","choice":"second","rationale":"In this order it is second.","evidence_first":[],"evidence_second":[],"confidence":0.9,"stated_confidence":0.9,"logprob_first":null,"raw_first":4.0,"raw_second":8.0,"source":"llm","model":null,"duration_ms":null,"dropped_parameters":[],"flags":[]}',NULL);
INSERT INTO "preferences" VALUES(34,1,8,'8b8ce9355960296631516f1e8cff98cd','2026-11-22T21:34:14.163856+00:00','ab','brief','recorded:replies.jsonl pairwise/criterion@7fcfa1f7a890',0,'second',NULL,0.0,'{"order":"ab","criterion":"brief","case_id":"q08","variant_first":"a","variant_second":"b","repeat":0,"judge":"recorded:replies.jsonl pairwise/criterion@7fcfa1f7a890","cached":false,"cost_usd":0.0,"price_usd":0.0,"usage":null,"n_calls":1,"reply_key":"e40dbb133c29ec22e38730c73de9facb05ef17d366116e9826bc55e5cf322073","choice":"second","rationale":"In this order it is second.","evidence_first":[],"evidence_second":[],"confidence":0.9,"stated_confidence":0.9,"logprob_first":null,"raw_first":4.0,"raw_second":8.0,"source":"llm","model":null,"duration_ms":null,"dropped_parameters":[],"flags":[]}',NULL);
INSERT INTO "preferences" VALUES(35,1,8,'0b38b857c2e41cda0ef8f7587010a0c9','2026-11-22T21:34:14.163856+00:00','ba','helpful','recorded:replies.jsonl pairwise/criterion@7fcfa1f7a890',0,'first',NULL,0.0,'{"order":"ba","criterion":"helpful","case_id":"q08","variant_first":"b","variant_second":"a","repeat":0,"judge":"recorded:replies.jsonl pairwise/criterion@7fcfa1f7a890","cached":false,"cost_usd":0.0,"price_usd":0.0,"usage":null,"n_calls":1,"reply_key":"e07d0bc1778a288f319ea1598f6762cb7ca6a82cd999ce6ff600334e384b52ee","choice":"first","rationale":"In this order it is first.","evidence_first":[],"evidence_second":[],"confidence":0.9,"stated_confidence":0.9,"logprob_first":null,"raw_first":8.0,"raw_second":4.0,"source":"llm","model":null,"duration_ms":null,"dropped_parameters":[],"flags":[]}',NULL);
INSERT INTO "preferences" VALUES(36,1,8,'c558bf0d9751b8d374976b6c05574b5f','2026-11-22T21:34:14.163856+00:00','ba','brief','recorded:replies.jsonl pairwise/criterion@7fcfa1f7a890',0,'first',NULL,0.0,'{"order":"ba","criterion":"brief","case_id":"q08","variant_first":"b","variant_second":"a","repeat":0,"judge":"recorded:replies.jsonl pairwise/criterion@7fcfa1f7a890","cached":false,"cost_usd":0.0,"price_usd":0.0,"usage":null,"n_calls":1,"reply_key":"b3f0cc000a08f595395e40ac6d17df4b76e623a0249d56911b60a84d9f64b277","choice":"first","rationale":"In this order it is first.","evidence_first":[],"evidence_second":[],"confidence":0.9,"stated_confidence":0.9,"logprob_first":null,"raw_first":8.0,"raw_second":4.0,"source":"llm","model":null,"duration_ms":null,"dropped_parameters":[],"flags":[]}',NULL);
INSERT INTO "preferences" VALUES(37,1,9,'58da248c7ba3de2d4cdfeb8246a193e5','2026-11-22T21:34:14.163856+00:00','ab','helpful','recorded:replies.jsonl pairwise/criterion@7fcfa1f7a890',0,'first',NULL,0.0,'{"order":"ab","criterion":"helpful","case_id":"q09","variant_first":"a","variant_second":"b","repeat":0,"judge":"recorded:replies.jsonl pairwise/criterion@7fcfa1f7a890","cached":false,"cost_usd":0.0,"price_usd":0.0,"usage":null,"n_calls":1,"reply_key":"831183ba68ec2a5a53cd843546d40be80a79cd6684fda125e5195d50feb177e1","choice":"first","rationale":"In this order it is first.","evidence_first":[],"evidence_second":[],"confidence":0.9,"stated_confidence":0.9,"logprob_first":null,"raw_first":8.0,"raw_second":4.0,"source":"llm","model":null,"duration_ms":null,"dropped_parameters":[],"flags":[]}',NULL);
INSERT INTO "preferences" VALUES(38,1,9,'8b8ce9355960296631516f1e8cff98cd','2026-11-22T21:34:14.163856+00:00','ab','brief','recorded:replies.jsonl pairwise/criterion@7fcfa1f7a890',0,'first',NULL,0.0,'{"order":"ab","criterion":"brief","case_id":"q09","variant_first":"a","variant_second":"b","repeat":0,"judge":"recorded:replies.jsonl pairwise/criterion@7fcfa1f7a890","cached":false,"cost_usd":0.0,"price_usd":0.0,"usage":null,"n_calls":1,"reply_key":"2f77ae9f498c98988c88255e0d730feff8f2dd7e2c4993d152249e7fbaa40d85","choice":"first","rationale":"In this order it is first.","evidence_first":[],"evidence_second":[],"confidence":0.9,"stated_confidence":0.9,"logprob_first":null,"raw_first":8.0,"raw_second":4.0,"source":"llm","model":null,"duration_ms":null,"dropped_parameters":[],"flags":[]}',NULL);
INSERT INTO "preferences" VALUES(39,1,9,'0b38b857c2e41cda0ef8f7587010a0c9','2026-11-22T21:34:14.163856+00:00','ba','helpful','recorded:replies.jsonl pairwise/criterion@7fcfa1f7a890',0,'second',NULL,0.0,'{"order":"ba","criterion":"helpful","case_id":"q09","variant_first":"b","variant_second":"a","repeat":0,"judge":"recorded:replies.jsonl pairwise/criterion@7fcfa1f7a890","cached":false,"cost_usd":0.0,"price_usd":0.0,"usage":null,"n_calls":1,"reply_key":"cb5e4dfabf9a63b00711e171d9342cc52de75c49f44dc999176dd048ec5ef4d7","choice":"second","rationale":"In this order it is second.","evidence_first":[],"evidence_second":[],"confidence":0.9,"stated_confidence":0.9,"logprob_first":null,"raw_first":4.0,"raw_second":8.0,"source":"llm","model":null,"duration_ms":null,"dropped_parameters":[],"flags":[]}',NULL);
INSERT INTO "preferences" VALUES(40,1,9,'c558bf0d9751b8d374976b6c05574b5f','2026-11-22T21:34:14.163856+00:00','ba','brief','recorded:replies.jsonl pairwise/criterion@7fcfa1f7a890',0,'second',NULL,0.0,'{"order":"ba","criterion":"brief","case_id":"q09","variant_first":"b","variant_second":"a","repeat":0,"judge":"recorded:replies.jsonl pairwise/criterion@7fcfa1f7a890","cached":false,"cost_usd":0.0,"price_usd":0.0,"usage":null,"n_calls":1,"reply_key":"03656ca40d1c03fdf21d7e17c400349f8d7787d89ed25a6f8e2a25c472c652b9","choice":"second","rationale":"In this order it is second.","evidence_first":[],"evidence_second":[],"confidence":0.9,"stated_confidence":0.9,"logprob_first":null,"raw_first":4.0,"raw_second":8.0,"source":"llm","model":null,"duration_ms":null,"dropped_parameters":[],"flags":[]}',NULL);
INSERT INTO "preferences" VALUES(41,1,10,'58da248c7ba3de2d4cdfeb8246a193e5','2026-11-22T21:34:14.163856+00:00','ab','helpful','recorded:replies.jsonl pairwise/criterion@7fcfa1f7a890',0,'first',NULL,0.0,'{"order":"ab","criterion":"helpful","case_id":"q10","variant_first":"a","variant_second":"b","repeat":0,"judge":"recorded:replies.jsonl pairwise/criterion@7fcfa1f7a890","cached":false,"cost_usd":0.0,"price_usd":0.0,"usage":null,"n_calls":1,"reply_key":"5daf24844d5dc84a1dd83b36f2e50e2b2ed6b399042d9293df9e12cc069cf2eb","choice":"first","rationale":"In this order it is first.","evidence_first":[],"evidence_second":[],"confidence":0.9,"stated_confidence":0.9,"logprob_first":null,"raw_first":8.0,"raw_second":4.0,"source":"llm","model":null,"duration_ms":null,"dropped_parameters":[],"flags":[]}',NULL);
INSERT INTO "preferences" VALUES(42,1,10,'8b8ce9355960296631516f1e8cff98cd','2026-11-22T21:34:14.163856+00:00','ab','brief','recorded:replies.jsonl pairwise/criterion@7fcfa1f7a890',0,'first',NULL,0.0,'{"order":"ab","criterion":"brief","case_id":"q10","variant_first":"a","variant_second":"b","repeat":0,"judge":"recorded:replies.jsonl pairwise/criterion@7fcfa1f7a890","cached":false,"cost_usd":0.0,"price_usd":0.0,"usage":null,"n_calls":1,"reply_key":"b1ec9e3a2f7c8187cdcb1ca1de5afc43c75a4b165e209b10a9b30da6835d07a4","choice":"first","rationale":"In this order it is first.","evidence_first":[],"evidence_second":[],"confidence":0.9,"stated_confidence":0.9,"logprob_first":null,"raw_first":8.0,"raw_second":4.0,"source":"llm","model":null,"duration_ms":null,"dropped_parameters":[],"flags":[]}',NULL);
INSERT INTO "preferences" VALUES(43,1,10,'0b38b857c2e41cda0ef8f7587010a0c9','2026-11-22T21:34:14.163856+00:00','ba','helpful','recorded:replies.jsonl pairwise/criterion@7fcfa1f7a890',0,'second',NULL,0.0,'{"order":"ba","criterion":"helpful","case_id":"q10","variant_first":"b","variant_second":"a","repeat":0,"judge":"recorded:replies.jsonl pairwise/criterion@7fcfa1f7a890","cached":false,"cost_usd":0.0,"price_usd":0.0,"usage":null,"n_calls":1,"reply_key":"54fe3432e9936e26d5711870d715bebf313f514d0ba0409e65ebd158080fc5bc","choice":"second","rationale":"In this order it is second.","evidence_first":[],"evidence_second":[],"confidence":0.9,"stated_confidence":0.9,"logprob_first":null,"raw_first":4.0,"raw_second":8.0,"source":"llm","model":null,"duration_ms":null,"dropped_parameters":[],"flags":[]}',NULL);
INSERT INTO "preferences" VALUES(44,1,10,'c558bf0d9751b8d374976b6c05574b5f','2026-11-22T21:34:14.163856+00:00','ba','brief','recorded:replies.jsonl pairwise/criterion@7fcfa1f7a890',0,'second',NULL,0.0,'{"order":"ba","criterion":"brief","case_id":"q10","variant_first":"b","variant_second":"a","repeat":0,"judge":"recorded:replies.jsonl pairwise/criterion@7fcfa1f7a890","cached":false,"cost_usd":0.0,"price_usd":0.0,"usage":null,"n_calls":1,"reply_key":"3ae8e376c2ba79231ea8edd3c6a4352ee0dd2462bdacc53ebc86166374dccf90","choice":"second","rationale":"In this order it is second.","evidence_first":[],"evidence_second":[],"confidence":0.9,"stated_confidence":0.9,"logprob_first":null,"raw_first":4.0,"raw_second":8.0,"source":"llm","model":null,"duration_ms":null,"dropped_parameters":[],"flags":[]}',NULL);
INSERT INTO "preferences" VALUES(45,1,11,'58da248c7ba3de2d4cdfeb8246a193e5','2026-11-22T21:34:14.163856+00:00','ab','helpful','recorded:replies.jsonl pairwise/criterion@7fcfa1f7a890',0,'first',NULL,0.0,'{"order":"ab","criterion":"helpful","case_id":"q11","variant_first":"a","variant_second":"b","repeat":0,"judge":"recorded:replies.jsonl pairwise/criterion@7fcfa1f7a890","cached":false,"cost_usd":0.0,"price_usd":0.0,"usage":null,"n_calls":1,"reply_key":"dcfd3a263f2ec09406bba1e342a3132144dc97425d73f53224b7d542a6098dd1","choice":"first","rationale":"In this order it is first.","evidence_first":[],"evidence_second":[],"confidence":0.9,"stated_confidence":0.9,"logprob_first":null,"raw_first":8.0,"raw_second":4.0,"source":"llm","model":null,"duration_ms":null,"dropped_parameters":[],"flags":[]}',NULL);
INSERT INTO "preferences" VALUES(46,1,11,'8b8ce9355960296631516f1e8cff98cd','2026-11-22T21:34:14.163856+00:00','ab','brief','recorded:replies.jsonl pairwise/criterion@7fcfa1f7a890',0,'first',NULL,0.0,'{"order":"ab","criterion":"brief","case_id":"q11","variant_first":"a","variant_second":"b","repeat":0,"judge":"recorded:replies.jsonl pairwise/criterion@7fcfa1f7a890","cached":false,"cost_usd":0.0,"price_usd":0.0,"usage":null,"n_calls":1,"reply_key":"66050afb634819a5fc2925f5836c7a512dd5b0a742199601e473a7df8a8d7e29","choice":"first","rationale":"In this order it is first.","evidence_first":[],"evidence_second":[],"confidence":0.9,"stated_confidence":0.9,"logprob_first":null,"raw_first":8.0,"raw_second":4.0,"source":"llm","model":null,"duration_ms":null,"dropped_parameters":[],"flags":[]}',NULL);
INSERT INTO "preferences" VALUES(47,1,11,'0b38b857c2e41cda0ef8f7587010a0c9','2026-11-22T21:34:14.163856+00:00','ba','helpful','recorded:replies.jsonl pairwise/criterion@7fcfa1f7a890',0,'second',NULL,0.0,'{"order":"ba","criterion":"helpful","case_id":"q11","variant_first":"b","variant_second":"a","repeat":0,"judge":"recorded:replies.jsonl pairwise/criterion@7fcfa1f7a890","cached":false,"cost_usd":0.0,"price_usd":0.0,"usage":null,"n_calls":1,"reply_key":"ae43109b54aa6e415aec4e77e81a6eb3f94ec4b2b7eda7755b88f3724df4f940","choice":"second","rationale":"In this order it is second.","evidence_first":[],"evidence_second":[],"confidence":0.9,"stated_confidence":0.9,"logprob_first":null,"raw_first":4.0,"raw_second":8.0,"source":"llm","model":null,"duration_ms":null,"dropped_parameters":[],"flags":[]}',NULL);
INSERT INTO "preferences" VALUES(48,1,11,'c558bf0d9751b8d374976b6c05574b5f','2026-11-22T21:34:14.163856+00:00','ba','brief','recorded:replies.jsonl pairwise/criterion@7fcfa1f7a890',0,'second',NULL,0.0,'{"order":"ba","criterion":"brief","case_id":"q11","variant_first":"b","variant_second":"a","repeat":0,"judge":"recorded:replies.jsonl pairwise/criterion@7fcfa1f7a890","cached":false,"cost_usd":0.0,"price_usd":0.0,"usage":null,"n_calls":1,"reply_key":"83e2b4bcee3219916183dc809daa8dcf98cc1749e9b4250ae5aa1b831581d840","choice":"second","rationale":"In this order it is second.","evidence_first":[],"evidence_second":[],"confidence":0.9,"stated_confidence":0.9,"logprob_first":null,"raw_first":4.0,"raw_second":8.0,"source":"llm","model":null,"duration_ms":null,"dropped_parameters":[],"flags":[]}',NULL);
CREATE TABLE queue (
	no INTEGER NOT NULL, 
	run_no BIGINT NOT NULL, 
	place BIGINT NOT NULL, 
	variant_no BIGINT NOT NULL, 
	repeat BIGINT NOT NULL, 
	slot TEXT NOT NULL, 
	json TEXT NOT NULL, 
	asked_at TEXT NOT NULL, 
	answered_at TEXT, 
	answer_slot TEXT, 
	PRIMARY KEY (no), 
	FOREIGN KEY(run_no, place, variant_no, repeat) REFERENCES answers (run_no, place, variant_no, repeat), 
	UNIQUE (run_no, place, variant_no, repeat, slot)
);
CREATE TABLE rubrics (
	"key" TEXT NOT NULL, 
	fingerprint TEXT NOT NULL, 
	name TEXT NOT NULL, 
	version TEXT NOT NULL, 
	first_seen_at TEXT NOT NULL, 
	json TEXT NOT NULL, 
	PRIMARY KEY ("key")
);
INSERT INTO "rubrics" VALUES('49440d32e30aaee446e6d9ee37238347','19b3cea1060ee2c64f2c7cec7ccd868c50dd3b30be9daf527c677e865ce2df82','helpfulness','1','2026-11-22T21:34:13.661946+00:00','{"name":"helpfulness","criteria":[{"name":"helpful","question":"Does the answer solve the problem that the customer describes?","scale":{"min":1.0,"max":5.0,"integer":true,"levels":[{"value":5.0,"name":"exemplary","description":"Met in full; every nuance is covered."},{"value":4.0,"name":"good","description":"Met well, with nuance."},{"value":3.0,"name":"minimal","description":"Met, but only just; superficial."},{"value":2.0,"name":"partial","description":"Partly addressed; significant gaps."},{"value":1.0,"name":"missing","description":"Not addressed, or contradicted."}],"between_levels":true},"scoring_guide":null,"weight":2.0,"required":true,"pass_value":0.5,"description":null},{"name":"brief","question":"Is the answer three sentences long at most?","scale":{"min":0.0,"max":1.0,"integer":true,"levels":[{"value":1.0,"name":"yes","description":"The criterion is met."},{"value":0.0,"name":"no","description":"The criterion is not met."}],"between_levels":true},"scoring_guide":null,"weight":1.0,"required":false,"pass_value":null,"description":null}],"pass_threshold":0.7,"description":null,"version":1,"active":true,"metadata":{}}');
CREATE TABLE runs (
	no INTEGER NOT NULL, 
	id TEXT NOT NULL, 
	suite TEXT NOT NULL, 
	suite_version TEXT NOT NULL, 
	started_at TEXT NOT NULL, 
	finished_at TEXT, 
	status TEXT NOT NULL, 
	reason TEXT, 
	config_key TEXT NOT NULL, 
	config_fingerprint TEXT NOT NULL, 
	dataset TEXT, 
	rubric_key TEXT, 
	host TEXT, 
	pid BIGINT, 
	json TEXT NOT NULL, 
	PRIMARY KEY (no), 
	UNIQUE (id), 
	FOREIGN KEY(config_key) REFERENCES configs ("key"), 
	FOREIGN KEY(rubric_key) REFERENCES rubrics ("key")
);
INSERT INTO "runs" VALUES(1,'20261122T213413Z-lab-2457','lab','1','2026-11-22T21:34:13.661946+00:00','2026-11-22T21:34:13.720488+00:00','complete',NULL,'e37d784c60b70334107a423101e06b37d3ce3d1705c75423844ac7f7f6901ce2','0b0870480f741321717113f104826d54a2efb0f94aeed94b4c169b2eb57e2140','cases','49440d32e30aaee446e6d9ee37238347','host',25894,'{"id":"20261122T213413Z-lab-2457","suite":"lab","suite_version":"1","started_at":"2026-11-22T21:34:13.661946Z","finished_at":null,"status":"running","reason":null,"config":{},"config_fingerprint":"0b0870480f741321717113f104826d54a2efb0f94aeed94b4c169b2eb57e2140","folder":"/srv/lab","dataset":"cases","dataset_version":"1","n_cases":3,"rubric":null,"variants":[],"panel":{"combine":"mean","judges":["recorded:replies.jsonl pointwise/criterion@18557e6b9fd5"],"weights":{},"escalate_below":null},"triggered_by":null,"notes":null,"tags":[]}');
CREATE TABLE scores (
	no INTEGER NOT NULL, 
	run_no BIGINT NOT NULL, 
	place BIGINT NOT NULL, 
	variant_no BIGINT NOT NULL, 
	repeat BIGINT NOT NULL, 
	ordinal BIGINT NOT NULL, 
	at TEXT NOT NULL, 
	name TEXT NOT NULL, 
	value DOUBLE, 
	raw DOUBLE, 
	unit TEXT, 
	json TEXT NOT NULL, 
	superseded_at TEXT, 
	PRIMARY KEY (no), 
	FOREIGN KEY(run_no, place, variant_no, repeat) REFERENCES answers (run_no, place, variant_no, repeat)
);
CREATE TABLE variants (
	run_no INTEGER NOT NULL, 
	no BIGINT NOT NULL, 
	variant TEXT NOT NULL, 
	json TEXT NOT NULL, 
	PRIMARY KEY (run_no, no), 
	UNIQUE (run_no, variant), 
	FOREIGN KEY(run_no) REFERENCES runs (no)
);
INSERT INTO "variants" VALUES(1,0,'a','{"id":"a","model_by_node":{},"provider_by_node":{},"tags":[],"prompt_version":null}');
CREATE INDEX rubrics_by_fingerprint ON rubrics (fingerprint);
CREATE INDEX rubrics_by_name ON rubrics (name);
CREATE INDEX approvals_by_variant ON approvals (variant);
CREATE INDEX criteria_by_name ON criteria (name);
CREATE INDEX runs_by_suite ON runs (suite, started_at);
CREATE INDEX runs_by_rubric ON runs (rubric_key);
CREATE INDEX runs_by_config ON runs (config_fingerprint);
CREATE INDEX runs_by_start ON runs (started_at);
CREATE INDEX cases_by_prompt_version ON cases (prompt_version);
CREATE INDEX cases_by_skill ON cases (skill);
CREATE INDEX cases_by_id ON cases (case_id);
CREATE INDEX cases_by_agent ON cases (agent);
CREATE INDEX comparisons_by_start ON comparisons (started_at);
CREATE INDEX variants_by_name ON variants (variant);
CREATE INDEX cases_by_tag ON case_tags (tag);
CREATE INDEX answers_by_case ON answers (case_key);
CREATE INDEX comparison_sides_by_run ON comparison_sides (run_id);
CREATE INDEX comparison_sides_by_variant ON comparison_sides (variant);
CREATE INDEX comparison_sides_by_label ON comparison_sides (label);
CREATE INDEX outputs_by_agent_run ON outputs (agent_run);
CREATE UNIQUE INDEX current_outputs ON outputs (run_no, place, variant_no, repeat) WHERE superseded_at IS NULL;
CREATE INDEX judgments_by_criterion ON judgments (criterion, run_no);
CREATE UNIQUE INDEX current_judgments ON judgments (run_no, place, variant_no, repeat, slot) WHERE superseded_at IS NULL;
CREATE UNIQUE INDEX current_judge_failures ON judge_failures (run_no, place, variant_no, repeat, slot) WHERE superseded_at IS NULL;
CREATE UNIQUE INDEX current_assertion_results ON assertion_results (run_no, place, variant_no, repeat, ordinal) WHERE superseded_at IS NULL;
CREATE UNIQUE INDEX current_scores ON scores (run_no, place, variant_no, repeat, ordinal) WHERE superseded_at IS NULL;
CREATE UNIQUE INDEX current_preferences ON preferences (comparison_no, place, slot) WHERE superseded_at IS NULL;
CREATE UNIQUE INDEX current_analyses ON analyses (comparison_no, place) WHERE superseded_at IS NULL;
COMMIT;
