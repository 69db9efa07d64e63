package meaning

import (
	"strings"
	"testing"

	"github.com/batchjob-dev/kubectl-batchjob/test/kit/assert"
)

// An error that no row knows is connected with what the pod template has of the words that it names.
// Requirements: CLI-18
func TestUnknownErrorIsConnectedWithThePodTemplate(t *testing.T) {
	c := Container{
		Name: "main", Image: "app:1", Secrets: []string{"db"}, Arguments: []string{"sh", "-c", "migrate --dir=/sql --lock --schema $SCHEMA"},
		Variables: []Variable{{Name: "DB_PASSWORD", From: "key password of Secret db"}, {Name: "DB_HOST", Value: "pg.prod"}, {Name: "TIMEOUT", Value: "5m"}},
		Mounts: []Mount{
			{Path: "/etc/app", Volume: "config", Kind: "ConfigMap app", ReadOnly: true}, {Path: "/host/bin", Volume: "bin", Kind: "hostPath", Directory: "/usr/bin"},
		},
	}
	for _, tc := range []struct {
		words, want string
		ofTemplate  bool
	}{
		{"DB_PASSWORD is too short", "correct variable DB_PASSWORD of container main, which comes from key password of Secret db", true},
		{`root certificate "/etc/app/ca.crt" does not exist`, "check volume config (ConfigMap app), which is mounted at /etc/app in container main: it is empty or lacks /etc/app/ca.crt", true},
		{`no certificate at "/srv/ca/ca.crt": file not found`, "whether a volume is mounted there in container main", true},
		{"cannot use /host/bin/kubelet", "check /usr/bin on the node, which container main has at /host/bin", true},
		{"--lock needs a timeout", "correct or leave out --lock in command or args of container main", true},
		{`unknown server "pg.prod"`, "check whether pg.prod is ready, and read its log; if the program needs another server, correct variable DB_HOST of container main", false},
		{"1 validation error for Settings: api_id: Field required", "set the variable for setting api_id in env of container main", true},
		{"GET /_ilm returned error: 400", "find out why the server does not accept this request, which comes from volume config", false},
		{`PUT "https://db.prod/x": HTTP 503`, "read the log of db.prod", false},
		{"status code: 401", "check the credentials that the server does not accept: variable DB_PASSWORD (key password of Secret db) of container main", false},
		{`error parsing config: yaml: line 3: did not find expected key`, "it comes from volume config (ConfigMap app) at /etc/app", false},
		{"permission denied for schema public", "GRANT USAGE, CREATE ON SCHEMA public TO the user with which container main logs in", false},
		{`Error from server (NotFound): secrets "x" not found`, "create x (secrets) in the namespace where the program looks for it", false},
		{"the DB password is too short", "correct variable DB_PASSWORD of container main", true},
		{"ValueError: invalid literal for int() with base 10: '5m'", "correct “5m” in variable TIMEOUT of container main", true},
		{`psql:/etc/app/x.sql:7: ERROR:  syntax error at or near "CREAT"`, "correct line 7 of /etc/app/x.sql, which comes from volume config (ConfigMap app)", false},
		{"", "", false},
	} {
		how := (&Clue{Words: tc.words}).Remedy(c)
		text, ofTemplate := how.Text, how.OfTemplate
		if !strings.Contains(text, tc.want) || tc.want == "" && text != "" || ofTemplate != tc.ofTemplate {
			t.Errorf("%s\ngot  %q, %t\nwant %q, %t", tc.words, text, ofTemplate, tc.want, tc.ofTemplate)
		}
	}
}

// The log of the server is where the cause of its error is: of the server that the error names, whose product it names, to which the log says
// that the program connected, whose port is the same, or the only one. An error that is about no server has no such advice.
// Requirements: CLI-18
func TestErrorOfAServerIsSoughtThere(t *testing.T) {
	c := Container{
		Name: "main", Image: "app:1", Arguments: []string{"migrate", "--host", "pg.prod"}, Servers: []string{"clickhouse:9000"},
		Variables: []Variable{{Name: "ORDERS_URL", Value: "http://orders.shop:8080/v1"}, {Name: "BUCKET", Value: "s3://data"}, {Name: "CACHE", Value: "cache:6379"}},
	}
	only := Container{Name: "main", Variables: []Variable{{Name: "DB_HOST", Value: "pg"}}}
	for _, tc := range []struct {
		of                         *Container
		words, log, server, advice string
	}{
		{&c, "no answer of orders, giving up", "", "orders.shop:8080", "check whether orders.shop:8080 is ready, and read its log; if the program needs another server, correct variable ORDERS_URL"},
		{&c, "psycopg2.errors.DiskFull: could not access file", "", "pg.prod", "read the log of pg.prod (PostgreSQL), which reports this error"},
		{&c, `psycopg2.OperationalError: no space left on device`, "", "pg.prod", "read the log of pg.prod"},
		{&c, "DB::Exception: Cannot link", "", "clickhouse:9000", "read the log of clickhouse:9000, which names the file"},
		{&c, "[PostgreSQL error] receive_message: timeout", "", "pg.prod", "or give the program more time"},
		{&c, "pymongo.errors.MongoError: interrupted", "connected to mongo:27017", "mongo:27017", "read the log of mongo:27017"},
		{&c, "dial tcp 10.0.0.7:6379: connect: connection refused", "", "cache:6379", "check whether cache:6379 is ready"},
		{&c, `ERROR: relation "users" does not exist`, "", "pg.prod", "container main is the migration that creates it"},
		{&c, "connection lost", "", "", "cache:6379 (variable CACHE of container main) or pg.prod (the command or args of container main)"},
		{&only, "read tcp 10.0.0.3:44288->10.0.0.7:5432: read: connection reset by peer", "pg.db.svc:5432 is available\nread tcp 10.0.0.3:44288->10.0.0.7:5432: connection reset", "pg.db.svc:5432", "check whether pg.db.svc:5432 is ready"},
		{&Container{Name: "main", Variables: []Variable{{Name: "DB_URI", From: "key u of Secret s"}}}, "Error: getaddrinfo EAI_AGAIN base", "", "", "correct the address of the server in variable DB_URI (key u of Secret s) of container main: base is no host"},
		{&c, "upload failed: a to s3://b/a An error occurred (InvalidAccessKeyId) when calling the PutObject operation: x", "", "", "--endpoint-url"},
		{&Container{Name: "main", Hosts: Hosts{Job: "train"}, Variables: []Variable{{Name: "MASTER_ADDR", Value: "train-0"}}}, "ValueError: host not found: Name or service not known", "", "", "{recreate} with subdomain in the pod template"},
		{&Container{Name: "main", Hosts: Hosts{Job: "set-a-0", Set: "set", Subdomain: "set"}}, "ssh: Could not resolve hostname set-b-0-1.set: Name or service not known", "", "", "look at the pod of index 1 of Job set-b-0"},
		{&c, "no data in file", "", "", ""},
		{&Container{Name: "main", Arguments: []string{"sh", "-c", "mysql -h db < /sql/a.sql"}, Mounts: []Mount{{Path: "/sql", Volume: "sql"}}}, "ERROR 1118 (42000) at line 7: Row size too large", "", "", "correct line 7 of /sql/a.sql (volume sql"},
		{&only, "mysqldump: Error 2020: Got packet bigger than 'max_allowed_packet' bytes when dumping table `a`", "", "", "raise the limit that this run exceeds (max_allowed_packet)"},
		{&Container{Name: "main", Arguments: []string{"ray", "job", "submit", "--address", "ray-head"}}, "Status message: the actor died before finishing this task", "", "ray-head", "look at ray-head if it does the work that failed"},
		{&Container{Name: "main", Arguments: []string{"serve", "--mysql_service_host=db.prod"}}, "lost connection", "", "db.prod", "check whether db.prod is ready"},
		{&Container{Name: "main", Arguments: []string{"popeye", "--min-score", "80"}}, "Your cluster score: 67 -- D", "", "", "have it accept that by --min-score 80 in the command or args of container main"},
		{&c, "Error: the state is already locked by another terraform client", "Lock Info:\n  ID:        545e1e3c\n  Who:       root@apply-qtpck", "", "its log names who holds it: “ID 545e1e3c, root@apply-qtpck”"},
		{&c, "repository is already locked by PID 62 on backup-xk2lp by root", "repository is already locked by PID 62 on backup-xk2lp by root", "", "its log names who holds it: “PID 62 on backup-xk2lp by root”"},
		{&only, "FileNotFoundError: Object s3://b/x.pt not found", "", "", "check s3://b/x.pt in container main, and whether what writes the object has run"},
		{&Container{Name: "main", Arguments: []string{"sync", "--s3-secret-access-key=abcDEF"}}, "Error: S3 secret access key is malformed", "", "", "correct --s3-secret-access-key in the command"},
		{&only, "server closed the connection unexpectedly", "", "pg", "check whether pg is ready"},
		{&only, "curl: (22) The requested URL returned error: 503", "", "", "read the log of the server"},
		{&only, "curl: (22) The requested URL returned error: 503", "GET http://web.shop:80/ returned error: 503", "web.shop:80", "read the log of web.shop:80"},
		{&Container{Name: "main", Variables: []Variable{{Name: "MODEL_URL", Value: "http://model.ml.svc"}}}, "AttributeError: model has no attribute 'x'", "", "", "correct the input that the program does not expect"},
		{&only, "sqlite3.OperationalError: database is locked", "", "", "let the other run that holds the lock end"},
		{&only, "User: arn:aws:sts::1:assumed-role/nodes/i-0a is not authorized to perform: ecr:X on resource: y", "", "", "so the program asks as role nodes of its node"},
		{&only, "could not connect to https://huggingface.co/x", "", "", "outside of the cluster"},
	} {
		q, how := &Clue{Words: tc.words, Log: strings.Split(tc.log, "\n")}, Remedy{}
		if e := KnownErrorIn(1, tc.words); e != nil {
			q.Words += " (PostgreSQL)"
			how = e.Remedy(q, *tc.of)
		} else {
			how = q.Remedy(*tc.of)
		}
		if !strings.Contains(how.Text, tc.advice) || how.Server != tc.server || tc.advice == "" && how.Text != "" {
			t.Errorf("%s\ngot  %q, %q\nwant %q, %q", tc.words, how.Text, how.Server, tc.advice, tc.server)
		}
	}
}

// What only a shell reads is an argument of the program without one, unless it is the value of an option.
// Requirements: CLI-18
func TestOperatorOfAShellNeedsAShell(t *testing.T) {
	for line, want := range map[string]string{
		"dump db > backup.sql": `command [sh, -c, "… > backup.sql"], in an image that has one (now app:1): without a shell, its program gets > as an argument; the file is lost with the pod`,
		"dump db | gzip":       `"… | gzip"`, "dump db -F | x": "", "sh -c dump > x": "its shell runs only “dump”", "install lib >2": "", "rm /data/*": "only a shell replaces /data/*", "sh -c echo;$0 x": "",
	} {
		c := Container{Name: "main", Image: "app:1", Arguments: strings.Fields(line)}
		words := `rm: relation public.> or '/data/*' does not exist`
		for _, how := range []Remedy{(&Clue{Words: words}).Remedy(c), (&KnownError{Kind: ErrorUsage}).Remedy(&Clue{Words: words}, c)} {
			if has := strings.Contains(how.Text, "as one element"); !strings.Contains(how.Text, want) || has != (want != "") {
				t.Errorf("%s: %q, want %q", line, how.Text, want)
			}
		}
	}
}

// A variable keeps a reference to one that the template does not define as text.
// Requirements: CLI-18
func TestReferenceToAnUndefinedVariableIsNamed(t *testing.T) {
	q := Clue{Words: "Unable to push database changes after 3 retries."}
	c := Container{Name: "main", Variables: []Variable{{Name: "USER", Value: "app"}, {Name: "URL", Value: "pg://$(USER):$(PASS)@db"}, {Name: "PASS", Value: "x"}}}
	text := q.Remedy(c).Text
	assert.Contains(t, text, "define variable PASS before URL in env of container main", "advice")
	c.Sources = []string{"Secret db"}
	if text = q.Remedy(c).Text; text != "" {
		t.Errorf("the Secret may define it: %s", text)
	}
}

// A message that the script of a container prints itself does not come from there, but what it gives to another program does.
// Requirements: CLI-18
func TestScriptIsNoSourceOfWhatItPrints(t *testing.T) {
	q := Clue{Words: "TestInvoice: got 19.99, want 20.00"}
	for script, want := range map[string]string{
		"run\necho 'TestInvoice: got 19.99'; exit 1":   "",
		"run\necho 'select TestInvoice' | psql":        "line 2 of the script of container main",
		"echo start; run --only TestInvoice --verbose": "--only in the command or args of container main",
	} {
		_, place, _ := q.origin(&Container{Name: "main", Arguments: []string{"sh", "-c", script}})
		assert.Equal(t, place, want)
	}
}

// What a program advises about its error is repeated, unless it is about reading or reporting.
// Requirements: CLI-18
func TestAdviceOfTheProgramIsRepeated(t *testing.T) {
	for _, tc := range []struct{ words, log, want string }{
		{"Version check failed: need kubelet", "Alternatively, you can specify the version with --version", "do what its log advises: “Alternatively, you can specify the version with --version”, in the command or args of container main"},
		{"it is not set up", "You must specify APP_KEY to a value for the\nuser. For example, x", "“You must specify APP_KEY to a value for the user”, in env of container main"},
		{"cannot use pg.prod", "To add an exception, call:\n\n\tgit config --global --add safe.directory /repo", "“To add an exception, call: git config --global --add safe.directory /repo”"},
		{"could not migrate", "If migration has been interrupted you need to delete 'a.lock'.", "do what its log advises: “If migration has been interrupted you need to delete 'a.lock'”"},
		{"boom", "Please report this bug, and set DEBUG_MODE", ""},
		{"boom", "HINT: a backup needs a stanza.\n\tHINT: has a stanza-list been read?", "do what its log advises: “a backup needs a stanza”"},
		{"it is insecure (try using `sslmode=require`)", "please wait", "“try using `sslmode=require`”"},
	} {
		text := (&Clue{Words: tc.words, Log: append([]string{"start"}, strings.Split(tc.log, "\n")...)}).Remedy(Container{Name: "main"}).Text
		if !strings.Contains(text, tc.want) || tc.want == "" && text != "" {
			t.Errorf("%s: %q, want %q", tc.words, text, tc.want)
		}
	}
}

// Errors of other systems have advice on what has to be created, changed or allowed there.
// Requirements: CLI-18
func TestErrorsOfOtherSystemsHaveAdviceOfTheirClass(t *testing.T) {
	c := Container{Name: "main", Image: "app:1", Arguments: []string{"run"}, Variables: []Variable{{Name: "BROKER", Value: "kafka:9092"}, {Name: "TOKEN", From: "key t of Secret s"}}}
	for words, want := range map[string]string{
		"org.apache.kafka.common.errors.TopicAuthorizationException: Not authorized to access topics: [a]": "ACL of the brokers: variable TOKEN",
		`file has vanished: "/data/a"`:                                  "look whether /data/a is still there",
		`no matches for kind "Ingress" in version "extensions/v1beta1"`: "has Ingress in networking.k8s.io/v1 or apps/v1: Kubernetes has removed extensions/v1beta1", `no matches for kind "Issuer" in version "cert-manager.io/v1"`: "install what defines Issuer", "403 (Permission denied: ACL bootstrap no longer allowed (reset index: 6))": "write 6 into the file acl-bootstrap-reset",
		"psql: error: FATAL:  the database system is starting up": "wait until the database is ready", "fatal: unsafe repository ('/w' is owned by someone else)": "--add safe.directory /w before", "db:5432 - no attempt": "a user and a database (-U, -d)", "READONLY You can't write against a read only replica.": "connect to the primary of the database",
		"ERROR 1205 (HY000) at line 3: Lock wait timeout exceeded; try restarting transaction":                                         "no other session holds the lock",
		`ERROR:  database "app" is being accessed by other users`:                                                                      "end the other sessions",
		`ERROR: could not open extension control file "/usr/share/postgresql/14/extension/pg_cron.control": No such file or directory`: "has extension pg_cron",
		`The Deployment "web" is invalid: spec.selector: Invalid value: x: field is immutable`:                                         "delete the object that the program changes",
		"fatal: Remote branch v9 not found in upstream origin":                                                                         "correct the branch or tag", "remote: Repository not found.": "a private one is not found without them: variable TOKEN",
		`Get "https://reg:5000/v2/": http: server gave HTTP response to HTTPS client`:                                                               "use http:// for the server",
		"remote error: tls: certificate required":                                                                                                   "client certificate",
		"ERROR: No matching distribution found for foo==9":                                                                                          "version of the package",
		"botocore.exceptions.NoRegionError: You must specify a region.":                                                                             "AWS_REGION",
		"An error occurred (ResourceNotFoundException) when calling the GetSecretValue operation: Secrets Manager can't find the specified secret.": "create what the program asks its cloud for",
		"Cloud SQL Admin API has not been used in project 1 before or it is disabled.":                                                              "enable that API",
		"Error: listen EADDRINUSE: address already in use :::8080":                                                                                  "use another port",
		`{"error":{"type":"index_not_found_exception","reason":"no such index [jaeger-span]"}}`:                                                     "create jaeger-span first",
		"rpc error: code = PermissionDenied desc = caller is not allowed":                                                                           "have the server allow this",
		"The following options are required: [-c | --cluster]":                                                                                      "give container main in its command or args the options",
		`error decoding document v1/Peer (line 8): "Peer" "v1": not registered`:                                                                     "rename Peer, or leave it out",
		`no kind "CronJob" is registered for version "batch/v1beta1" in scheme "x"`:                                                                 "rename CronJob",
		"json: unknown field \"retention\"":                                                                                                         "leave out or rename retention",
		"max_wal_senders (10) must be less than max_connections (5)":                                                                                "lower max_wal_senders, which is 10, or raise max_connections",
		"retries_done = 3 max_retries = 5 failed":                                                                                                   "",
		`Get "https://releases.example.com/x.zip": EOF`:                                                                                             "what ends the connection to releases.example.com early",
		`Error: unable to recognize "": no matches for kind "PodSecurityPolicy" in version "policy/v1beta1"`:                                        "Kubernetes has removed policy/v1beta1", `no matches for kind "CronJob" in version "batch/v1beta1"`: "Kubernetes has removed batch/v1beta1", `no matches for kind "Certificate" in version "cert-manager.io/v1"`: "install what defines Certificate", "error: command terminated with exit code 137": "look at the pod in which the program executes its command", "curl: option -k http://es:9200: is unknown": "the quotes around -k and http://es:9200", "java.io.IOException: Found 2 files that match": "subPath", "WAL archive check failed for server a: Expected empty archive": "another serverName", "Error while restoring a backup: no target backup found": "make that backup first", "cluster has already been initialized with ID 1": "let the Job succeed",
		"fatal: Not a git repository (or any of the parent directories): .git":                                                     "have the program clone its repository before",
		"ArgumentError: could not find a temporary directory":                                                                      "give mode 1777 to /tmp of container main",
		"ERROR: [064]: unable to write '/repo/a.gz'":                                                                               "the disk or volume that has /repo/a.gz",
		"Error 1364: Field 'a' doesn't have a default value":                                                                       "a statement gives a no value",
		"line 22: field shared_store not found in type boltdb.IndexCfg":                                                            "leave out or rename shared_store",
		"mysqldump: Couldn't execute 'FLUSH TABLES': Access denied; you need (at least one of) the RELOAD privilege(s)":            "grant the right that it lacks (RELOAD) to the program's user",
		"Error from server: code=2100 [Unauthorized] message=\"User app has no CREATE permission on <all keyspaces>\"":             "lacks (CREATE permission on <all keyspaces>)",
		"User [a@b.c] does not have permission to access project [p] (or it may not exist), see https://console.cloud.example/iam": "lacks (access project [p]) to the program's user at kafka:9092",
		"no permissions for [indices:admin/create] and User [name=indexer, backend_roles=[]]":                                      "give user indexer at kafka:9092 a role",
		"not authorized for query on shop.system.indexes":                                                                          "a role that allows this on shop.system.indexes",
		"Still waiting to acquire lock on /cache/.gitignore.lock":                                                                  "let the other run that holds the lock end",
		"provider registry.terraform.io does not have a provider named registry.terraform.io/hashicorp/kubectl":                    "correct the source of provider registry.terraform.io/hashicorp/kubectl",
		"RuntimeError: PytorchStreamReader failed: file is too short":                                                              "get the file that the program reads again",
		"Error: EOF\n  Continue? [y/N] ":                                                                                           "its log asks: “Continue? [y/N]”",
		`pods "repo-866866ccf-6lt2f" not found`:                                                                                    "correct the name of the pod, which has been replaced",
		`sed: can't move '/etc/x.confab' to '/etc/x.conf': Device or resource busy`:                                                "write to a copy of /etc/x.conf", "OSError: [Errno 18] Invalid cross-device link: '/tmp/a' -> '/data/a'": "copy /tmp/a instead", "IsADirectoryError: [Errno 21] Is a directory: '/config/app.yaml'": "have /config/app.yaml be a file", "sqlite3.OperationalError: unable to open database file": "for the file of SQLite", "Unable to create tempDir. java.io.tmpdir is set to /tmp": "mount an emptyDir at /tmp", `No FileSystem for scheme "s3a"`: "library for s3a://", "Missing X server or $DISPLAY": "without a display",
		`module java.base does not "opens java.util" to unnamed module`: "opens java.util", "Error: error:0308010C:digital envelope routines::unsupported": "--openssl-legacy-provider", "SyntaxError: Cannot use import statement outside a module": "kind of module", "OSError: /m/l does not appear to have a file named config.json.": "the whole model in /m/l", `Permission denied: user=app, access=WRITE, inode="/user"`: "let user app WRITE /user in HDFS", "LoginException: java.lang.NullPointerException: invalid null input: name": "HADOOP_USER_NAME",
		"airflow: The conn_id `my_s3` isn't defined": "define connection my_s3", "configparser.NoSectionError: No section: 'db'": "define db, or correct it", "bash: line 1: [: -gt: unary operator expected": "put the variables", "ImportError: Missing: use pip install 'accelerate>=0.26'": "has accelerate", "size is bigger than spark.driver.maxResultSize (1024.0 MiB)": "raise spark.driver.maxResultSize", "jinja2.exceptions.UndefinedError: x at (/app/run.py:12:3)": "at line 12 of /app/run.py",
		"ImportError: cannot import name 'A' from 'transformers'":                      "use an image whose version of transformers has A",
		"make sure that you may read x: cannot list: not entitled to read shop.orders": "grant what the message names to the user or account of the program at kafka:9092", "FATAL: Authentication failure": "check as whom the program logs in at kafka:9092, and the password, key or token: variable TOKEN", "please check your password: error to open it: store not initialized": "as it was not initialized",
		"app.migrations.errors.InProgress: events: 0011_x": "complete or undo by hand", "unsupported MediaType: v1": "use another version of image app:1", "[ERROR] APP_TOKEN required but not set": "set APP_TOKEN in env of container main", "GoError: unknown module: k6/x/remote": "create k6/x/remote first, use an image that has it (app:1)", "ClickhouseError: DB::Exception: Cannot fsync part 7": "read the log of the ClickHouse server", "accepts 1 arg(s), received 4": "as many arguments", "/bin/sh: 1: ./cron/cron.sh: not found": "./cron/cron.sh",
		"Timeout waiting for topics after 120 seconds": "check whether kafka:9092 is ready, and read its log",
		`error: error validating "/m/a.yaml": error validating data: ValidationError(Deployment.spec): unknown field "replica" in io.k8s`: "correct field replica of the object",
		"Error: UPGRADE FAILED: failed post-upgrade: job app-seed failed: BackoffLimitExceeded":                                           "look at Job app-seed, the hook that failed",
	} {
		log := strings.Split(words, "\n")
		text := (&Clue{Words: log[0], Log: log}).Remedy(c).Text
		if !strings.Contains(text, want) {
			t.Errorf("%s: %q, want %q", words, text, want)
		}
	}
}

// Requirements: CLI-18
func TestCommandShowsWhatKeepsALogEmpty(t *testing.T) {
	for script, want := range map[string]string{
		"make; curl -s -X POST https://api > /dev/null": "leave out what hides output in the command of container main (-s and > /dev/null)",
		"curl -sS https://api":                          "",
		"set -e; make":                                  "add set -x to its script",
		"make":                                          "",
	} {
		got := (&Container{Name: "main", Arguments: []string{"sh", "-c", script}}).SilenceAdvice()
		if !strings.Contains(got, want) || want == "" && got != "" {
			t.Errorf("%s: %q, want %q", script, got, want)
		}
	}
}
