package meaning

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/batchjob-dev/kubectl-batchjob/test/kit/assert"
)

// Requirements: CLI-14
func TestLastLineIsTheLastThatMaySayWhy(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		lines []string
		want  string
	}{
		"plain":                 {[]string{"start", "cannot open data.csv", ""}, "cannot open data.csv"},
		"a traced exit":         {[]string{"+ helm install", "release is in the state failed", "+ exit 1"}, "release is in the state failed"},
		"make":                  {[]string{"no rule to make target x", "exit status 2"}, "no rule to make target x"},
		"Java":                  {[]string{"java.lang.IllegalStateException: no port", "\tat a.b.C(D.java:7)", "\t... 12 more"}, "java.lang.IllegalStateException: no port"},
		"logfmt":                {[]string{`time="2024-08-20T07:42:07Z" level=fatal msg="cannot uninstall: \"confirm\" is false" error="denied"`}, `cannot uninstall: "confirm" is false: denied`},
		"JSON":                  {[]string{`{"level":"error","ts":1.5,"msg":"no shard","error":"peer 4 is gone"}`}, "no shard: peer 4 is gone"},
		"a time":                {[]string{"2026-01-02T03:04:05.678Z cannot open data.csv"}, "cannot open data.csv"},
		"broken JSON":           {[]string{`{"level":`}, `{"level":`},
		"Japanese":              {[]string{"設定ファイルが見つかりません", "+ exit 1"}, "設定ファイルが見つかりません"},
		".NET":                  {[]string{"Unhandled exception. System.InvalidOperationException: no port", "   at App.Program.Main(String[] args) in /src/Program.cs:line 5"}, "System.InvalidOperationException: no port"},
		"Node.js":               {[]string{"/app/a.js:5", "    throw new Error('no port');", "    ^", "", "Error: no port", "    at Object.<anonymous> (/app/a.js:5:9)", "    at node:internal/main/run_main_module:28:49", "", "Node.js v20.11.1"}, "Error: no port"},
		"npm":                   {[]string{"npm error Missing script: \"migrate\"", "npm error", "npm error A complete log of this run can be found in: /root/.npm/_logs/x.log"}, `npm error Missing script: "migrate"`},
		"Rust":                  {[]string{"thread 'main' panicked at src/main.rs:2:5:", "no port", "note: run with `RUST_BACKTRACE=1` environment variable to display a backtrace"}, "no port"},
		"Ruby":                  {[]string{"/app/a.rb:3:in `run': no port (RuntimeError)", "\tfrom /app/a.rb:7:in `<main>'"}, "/app/a.rb:3:in `run': no port (RuntimeError)"},
		"PHP":                   {[]string{"PHP Fatal error:  Uncaught Exception: no port in /app/a.php:3", "Stack trace:", "#0 {main}", "  thrown in /app/a.php on line 3"}, "PHP Fatal error:  Uncaught Exception: no port in /app/a.php:3"},
		"R":                     {[]string{"Error in f() : no port", "Calls: f", "Execution halted"}, "Error in f() : no port"},
		"at a place":            {[]string{"at least one shard is missing"}, "at least one shard is missing"},
		"an object of JSON":     {[]string{"│ Error: {", `│   "status" : 401,`, `│   "id" : "a",`, `│   "message" : "No such key."`, "│ }", "exit 42"}, "Error: 401 No such key."},
		"a state":               {[]string{`The Widget "a" is invalid: spec.size: must be 3`, "gadget/b unchanged", "gadget/c configured"}, `The Widget "a" is invalid: spec.size: must be 3`},
		"only states":           {[]string{"reading", "gadget/b unchanged", "gadget/c created"}, "gadget/c created"},
		"a logger's tokens":     {[]string{"[2024-08-21 15:48:49,636][a.b][INFO  ] stderr cannot read /a: Permission denied", "11:49:36 - A B:INFO: c.py:89 - done 3"}, "cannot read /a: Permission denied"},
		"a farewell":            {[]string{"Ruby not installed. See https://ruby-lang.org", "Exiting!"}, "Ruby not installed. See https://ruby-lang.org"},
		"help":                  {[]string{"error: unknown flag --x", "Usage: tool [flags]", "See 'tool --help' for usage"}, "error: unknown flag --x"},
		"a wrapper":             {[]string{"dump: error: server 10.0.0.1 refuses", "dumpall: error: dump failed on database \"a\", exiting"}, "dump: error: server 10.0.0.1 refuses"},
		"no wrapped":            {[]string{"connecting", "dumpall: error: dump failed on database \"a\", exiting"}, "dumpall: error: dump failed on database \"a\", exiting"},
		"a box":                 {[]string{"Initialized!", "╷", "│ Error: no lock", "│ Error message: taken by another client", "│ Lock Info:", "│   Who: a@b", "│", "│ A lock protects the state. Please resolve the issue above and try", "│ again. You can disable it, but this is not recommended.", "╵"}, "Error: no lock: taken by another client"},
		"advice":                {[]string{"checking", "unable to create lock: already locked by PID 52 on a", "lock was created at noon", "the `unlock` command can be used to remove stale locks"}, "unable to create lock: already locked by PID 52 on a"},
		"only advice":           {[]string{"checking", "you should see a doctor"}, "you should see a doctor"},
		"a vague end":           {[]string{"Not ready: failed calling webhook a.io", "error: timed out waiting for the condition"}, "Not ready: failed calling webhook a.io"},
		"a vague log":           {[]string{`{"level":"info","msg":"x (legacy): Cannot initialize: Permission denied\n\n"}`, `{"level":"error","msg":"aborting configuration"}`, "Error: exit status 1"}, "x (legacy): Cannot initialize: Permission denied"},
		"a native stack":        {[]string{"ServerError: Syntax error: no such type", "", "0. DB::Exception::Exception(int, bool) @ 0x000000000bf65fe8", "11. start_thread @ 0x7624", "12. ? @ 0x00000000000d149c", ""}, "ServerError: Syntax error: no such type"},
		"a backtrace":           {[]string{"terminate called: no port", "#0  0x00007ffff7a42428 in raise () from /lib/libc.so", "/lib/libc.so(+0x354b0) [0x7ffff7a424b0]", "  4: 0x5581 - core::panicking::panic"}, "terminate called: no port"},
		"a tool and a shell":    {[]string{"curl: option -k http://a:9200: is unknown", "curl: try 'curl --help' or 'curl --manual' for more information", "Policy GET response code is", "Got response code  while creating policy so exiting.", "/a.sh: line 41: [: -eq: unary operator expected", "2023/01/30 10:46:40 Command exited with error: exit status 1"}, "curl: option -k http://a:9200: is unknown"},
		"pnpm":                  {[]string{"no port", " ELIFECYCLE  Command failed with exit code 1."}, "no port"},
		"Maven":                 {[]string{"[ERROR] no port", "[ERROR] ", "[ERROR] To see the full stack trace of the errors, re-run Maven with the -e switch.", "[ERROR] [Help 1] http://cwiki.apache.org/MAVEN/X"}, "[ERROR] no port"},
		"Gradle":                {[]string{"* What went wrong:", "Execution failed for task ':run'.", "> no port is not found", "* Try:", "> Run with --stacktrace option to get the stack trace.", "> Get more help at https://help.gradle.org.", "BUILD FAILED in 3s"}, "> no port is not found"},
		"an object":             {[]string{"Error during run:", "{ QueryFailedError: PARSE: no port", "    at new QueryFailedError (/a.js:11:28)", "  message:", "   'PARSE_ERROR: no port',", "  errno: 1064,", "  sql: 'ALTER a' }", "error Command failed with exit code 1."}, "QueryFailedError: PARSE: no port"},
		"a class of Java":       {[]string{"Error: LinkageError occurred while loading main class a.B", "\tjava.lang.UnsupportedClassVersionError: a/B has been compiled by a more recent version"}, "java.lang.UnsupportedClassVersionError: a/B has been compiled by a more recent version"},
		"pending migrations":    {[]string{"rails aborted!", "ActiveRecord::PendingMigrationError: ", "", "Migrations are pending", "", "        bin/rails db:migrate"}, "Migrations are pending"},
		"an aborted MPI":        {[]string{"MPI_ABORT was invoked on rank 0 in communicator MPI_COMM_WORLD", "with errorcode 1.", "", "NOTE: invoking MPI_ABORT causes Open MPI to kill all MPI processes.", "You may or may not see output from other processes, depending on", "exactly when Open MPI kills them."}, "MPI_ABORT was invoked on rank 0 in communicator MPI_COMM_WORLD"},
		"tar":                   {[]string{"tar: /data/a.tar: Cannot open: No such file or directory", "tar: Error is not recoverable: exiting now"}, "tar: /data/a.tar: Cannot open: No such file or directory"},
		"a vague time":          {[]string{"pod/migrate created", "error: timed out waiting for the condition on jobs/migrate"}, "error: timed out waiting for the condition on jobs/migrate"},
		"a vague deadline":      {[]string{`{"level":"warn","msg":"retrying failed","error":"certificate signed by unknown authority"}`, "Error: context deadline exceeded"}, "retrying failed: certificate signed by unknown authority"},
		"a stop with its cause": {[]string{"reading", "Shutting down: cannot write /data/out: disk full"}, "Shutting down: cannot write /data/out: disk full"},
		"a bare stop":           {[]string{"cannot write /data/out: disk full", "Shutting down, this might take some time."}, "cannot write /data/out: disk full"},
		"a cause after cannot":  {[]string{"Checking schema", "Upgrade cannot continue: table orders has 3 duplicate rows"}, "Upgrade cannot continue: table orders has 3 duplicate rows"},
		"a bare cannot":         {[]string{"ERROR     Unable to connect", "CRITICAL  Tool cannot proceed. Exiting."}, "ERROR     Unable to connect"},
		"rulers with an error":  {[]string{"reading", "=== ERROR: cannot read /data/in.csv ==="}, "=== ERROR: cannot read /data/in.csv ==="},
		"Cargo":                 {[]string{"error[E0308]: mismatched types", " --> src/main.rs:4:18", "error: could not compile `app` (bin \"app\") due to 1 previous error"}, "error[E0308]: mismatched types"},
		"npm ci":                {[]string{"npm ERR! code EUSAGE", "npm ERR! ", "npm ERR! The `npm ci` command can only install with an existing package-lock.json or", "npm ERR! npm-shrinkwrap.json with lockfileVersion >= 1. Run an install with npm@5 or", "npm ERR! later to generate a package-lock.json file, then try again."}, "npm ERR! The `npm ci` command can only install with an existing package-lock.json or"},
		"a test in Go":          {[]string{"--- FAIL: TestTotal (0.00s)", "    total_test.go:9: got 3, want 4", "FAIL", "FAIL\texample.com/total\t0.003s", "FAIL"}, "--- FAIL: TestTotal (0.00s)"},
		"pytest":                {[]string{"=== short test summary info ===", "FAILED tests/a.py::test_total - assert 3 == 4", "=== 1 failed, 11 passed in 0.13s ==="}, "FAILED tests/a.py::test_total - assert 3 == 4"},
		"a missing import":      {[]string{"tests/a.py:3: in <module>", "E   ModuleNotFoundError: No module named 'httpx'", "=== short test summary info ===", "ERROR tests/a.py", "!!! Interrupted: 1 error during collection !!!", "=== 1 error in 0.20s ==="}, "E   ModuleNotFoundError: No module named 'httpx'"},
		"Newman":                {[]string{"  2.  AssertionError   Status code is 200", "        expected response to have status code 200 but got 503", "        at assertion:0 in test-script", "        inside \"health\""}, "expected response to have status code 200 but got 503"},
		"Robot Framework":       {[]string{"Smoke :: Health | FAIL |", "HTTPError: 503 Server Error", "1 test, 0 passed, 1 failed"}, "HTTPError: 503 Server Error"},
		"Yarn's codes":          {[]string{"➤ YN0028: │ The lockfile would have been modified, which is forbidden.", "➤ YN0000: Failed with errors in 0s 500ms"}, "➤ YN0028: │ The lockfile would have been modified, which is forbidden."},
		"MySQL":                 {[]string{"2024-03-01T10:00:00.000000Z 0 [ERROR] [MY-012574] [InnoDB] Unable to lock ./ibdata1 error: 11", "2024-03-01T10:00:05.000000Z 0 [ERROR] [MY-010119] [Server] Aborting"}, "Unable to lock ./ibdata1 error: 11"},
		"a cross":               {[]string{"✘  ENOTOKEN No token specified.", "A personal token must be set in the TOKEN environment variable."}, "✘  ENOTOKEN No token specified."},
		"levels in numbers":     {[]string{`{"level":60,"msg":"Authentication failure"}`, `{"level":30,"msg":"The bot is exiting with a non-zero code"}`}, "Authentication failure"},
		"Open MPI":              {[]string{"[1,4]<stdout>:a-1: Test NCCL failure a.cu:44 'unhandled cuda error'", "[1,4]<stdout>: .. a-1 pid 147: Test failure common.cu:393", "-----", "Primary job  terminated normally, but 1 process returned", "a non-zero exit code. Per user-direction, the job has been aborted.", "-----", "mpirun detected that one or more processes exited with non-zero status, thus causing", "the job to be terminated. The first process to do so was:", "", "  Process name: [[33410,1],5]", "  Exit code:    3", "-----"}, "a-1: Test NCCL failure a.cu:44 'unhandled cuda error'"},
		"Spark":                 {[]string{"24/05/22 15:41:20 ERROR SparkContext: Error initializing.", "org.a.SparkException: no port", "\tat org.a.B.c(B.scala:7)", "24/05/22 15:41:21 INFO ShutdownHookManager: Shutdown hook called"}, "org.a.SparkException: no port"},
		"an INFO alone":         {[]string{"connected", "2024-01-01 12:00:00,123 - INFO - closing"}, "- INFO - closing"},
		"Ansible":               {[]string{`fatal: [localhost]: FAILED! => {"msg": "no port"}`, "PLAY RECAP *****", "localhost   : ok=1  changed=0  unreachable=0  failed=1  skipped=0"}, "fatal: [localhost]: FAILED: no port"},
		"Python chain":          {[]string{"KeyError: 'a'", "", "During handling of the above exception, another exception occurred:", "", "Traceback (most recent call last):", `  File "a.py", line 3, in f`, "    raise AppError from e", "app.AppError: no port"}, "app.AppError: no port"},
		"a hint alone":          {[]string{"the widget is gone", "Run with -v for more details"}, "the widget is gone"},
		"a burst":               {[]string{"starting", "psql: error: FATAL:  database \"a\" does not exist", "/d.sh: line 96: / B: syntax error: operand expected", "dumpall: error: dump failed on database \"c\", exiting"}, "psql: error: FATAL:  database \"a\" does not exist"},
		"alternatives":          {[]string{"FATAL 2 errors occurred:", "* no socket: stat a: no such file", "* GET b: MANIFEST_UNKNOWN"}, "GET b: MANIFEST_UNKNOWN"},
		"Go's read":             {[]string{"exit soon", "read /data/x.bin: input/output error"}, "read /data/x.bin: input/output error"},
		"run.sh":                {[]string{"exit soon", "./run.sh: line 3: /opt/tool/bin: Bad substitution"}, "./run.sh: line 3: /opt/tool/bin: Bad substitution"},
		"short names of fields": {[]string{`{"L":"error","M":"no port"}`, `{"L":"info","M":"bye","options":"unsupported"}`}, "no port"},
		"a hyphen":              {[]string{"exit soon", "read config: non-existent key foo"}, "read config: non-existent key foo"},
		"a printed exception":   {[]string{`app.Error: Missing('no "port"\nLINE 1: a\n',)`}, `app.Error: Missing: no "port"`},
		"a flag":                {[]string{"the widget is gone", "Use --force", "run tool in /opt/tool/bin"}, "the widget is gone"},
		"half a success":        {[]string{"start", "Connected, but authentication failed: bad password"}, "Connected, but authentication failed: bad password"},
		"connected late":        {[]string{"ERROR: duplicate key", "copying", "Connected to replica, pid 7"}, "ERROR: duplicate key"},
		"reconnected":           {[]string{"FATAL: password authentication failed for user x", "reconnected to y"}, "FATAL: password authentication failed for user x"},
		"a success":             {[]string{"start", "loading", "connected to y"}, ""},
		"after attempts":        {[]string{"start", "succeeded after 2 failed attempts", "gadget/c created"}, "gadget/c created"},
		"HTTP level":            {[]string{`{"level":"error","message":"disk quota exceeded"}`, `{"level":"http","message":"GET /healthz 200"}`}, "disk quota exceeded"},
		"DEFAULT":               {[]string{`{"severity":"ALERT","message":"disk quota exceeded"}`, `{"severity":"DEFAULT","message":"GET /healthz 200"}`}, "disk quota exceeded"},
		"err":                   {[]string{`level=err msg="disk quota exceeded"`, `level=verbose msg="GET /healthz 200"`}, "disk quota exceeded"},
		"zap's INFO":            {[]string{"no port", "2024-05-01T00:00:00Z\tINFO\tsetup\tretry failed\t{\"error\":\"x refused\"}"}, "no port"},
		"zap's ERROR":           {[]string{"2024-05-01T00:00:00Z\tERROR\tsetup\tno port\t{\"error\":\"x  is gone\"}", "stopping 3 workers"}, "ERROR setup no port: x is gone"},
		"klog and JSON":         {[]string{"no port", `I0501 12:00:00.000000       1 a.go:7] retry failed {"error":"x refused"}`}, "no port"},
		"klog's E":              {[]string{"E0501 12:00:00.000000       1 leader.go:7] lost lease", "stopping all 3 workers now"}, "lost lease"},
		"output of a child":     {[]string{"Thu Apr 22 06:40:27 UTC 2021 INFO: Starting in 'x' mode", `time="2021-04-22T06:41:29Z" level=info msg="stderr=[WARN: option 'y' is not set\n      HINT: set it\nERROR: [039]: no such stanza:\n       *** URI ***:\n]"`}, "no such stanza: *** URI ***:"},
		"Ansible's command":     {[]string{`fatal: [localhost]: FAILED! => {"changed": true, "msg": "non-zero return code", "rc": 1, "stderr": "error: no matches for kind \"Y\" in version \"x/v1beta1\"", "stdout": ""}`}, `no matches for kind "Y" in version "x/v1beta1"`},
		"capnslog":              {[]string{"2022-09-08 01:33:24.709707 E | cephosd: lost lease", "2022-09-08 01:33:24.709728 I | cephosd: old lsblk can't detect it"}, "cephosd: lost lease"},
		"JSend":                 {[]string{`{"data":{"message":"the lease is with y"},"status":"error"}`, "stopping all 3 workers now"}, "the lease is with y"},
		"TensorFlow":            {[]string{"no port", "2019-01-15 05:49:31.297537: I tensorflow/a/b.cc:964] successful read had no value, so returning zero"}, "no port"},
		"an exec":               {[]string{`level=info msg="stderr=[]"`, `level=fatal msg="command terminated with exit code 137"`}, "command terminated with exit code 137"},
		"nothing":               {[]string{"", "+ exit 1", "---"}, ""},
		"findings":              {[]string{"app:1 (debian 12.4)", "Total: 3 (CRITICAL: 3)", "│ zlib1g │ CVE-2023-45853 │ CRITICAL │", "│ libxml │ CVE-2024-25062 │ HIGH │"}, "Total: 3 (CRITICAL: 3)"},
		"counted findings":      {[]string{"x.go:40:10: Error return value of f.Close is not checked", "2 issues:", "* errcheck: 1", "* ineffassign: 1"}, "2 issues"},
		"work on issues":        {[]string{"repo b: cannot fetch its list", "synced 14 issues"}, "repo b: cannot fetch its list"},
		"a failed check":        {[]string{"15 checks PASS", "4 checks FAIL", "0 checks INFO"}, "4 checks FAIL"},
		"an error after a tool": {[]string{"found 3 vulnerabilities", "cannot open data.csv"}, "cannot open data.csv"},
		"a chain of Python": {[]string{
			"Traceback (most recent call last):", `  File "/app/a.py", line 7, in <module>`, `ValueError: column "amount" has mixed types`, "",
			"The above exception was the direct cause of the following exception:", "", "Traceback (most recent call last):", `  File "/app/b.py", line 3, in run`, "    load()", "app.StageFailed: stage load did not finish", "",
			"The above exception was the direct cause of the following exception:", "", "Traceback (most recent call last):", `  File "/app/c.py", line 3, in main`, "    raise JobFailed()", "app.JobFailed: step load failed",
		}, `ValueError: column "amount" has mixed types`},
		"a detail in a chain": {[]string{
			"KeyError: 7", "", "The above exception was the direct cause of the following exception:", "", "Traceback (most recent call last):", `  File "/app/c.py", line 3, in main`, "app.JobFailed: no row for key 7 in orders.csv: it failed",
		}, "app.JobFailed: no row for key 7 in orders.csv: it failed"},
		"Python's logging":    {[]string{"FileNotFoundError: Object s3://b/x.pt not found", "ERROR:composer.cli.launcher:Rank 0 crashed with exit code 1.", "ERROR:composer.cli.launcher:Global rank 0 (PID 71) exited with code 1"}, "FileNotFoundError: Object s3://b/x.pt not found"},
		"a module of errors":  {[]string{"ERROR:root:step copy failed", "Traceback (most recent call last):", `  File "/app/a.py", line 31, in <module>`, "psycopg2.errors.BadCopyFileFormat: missing data", `CONTEXT:  COPY orders, line 3`}, "psycopg2.errors.BadCopyFileFormat: missing data"},
		"NCCL":                {[]string{"job-worker-1:25:25 [0] init.cc:981 NCCL WARN Invalid rank requested : 2/2", "Traceback (most recent call last):", `  File "train.py", line 131, in <module>`, "RuntimeError: NCCL error in: /opt/c10d/ProcessGroupNCCL.cpp:784, invalid argument, NCCL version 2.7.8"}, "Invalid rank requested : 2/2"},
		"details below":       {[]string{"x.SubprocessError: Run cmd[14] failed with the following details.", "Last 50 lines of stdout:", "    ERROR: No matching distribution found for abc"}, "ERROR: No matching distribution found for abc"},
		"two failures":        {[]string{"KeyError: 'a1927b321511'", "Migration failed: alembic upgrade head command failed", "Startup failed: Database migrations failed"}, "KeyError: 'a1927b321511'"},
		"an error of a mount": {[]string{"ERROR : Local file system at /mnt/dst: not deleting files as there were IO errors", "Failed to sync: last error was: read /mnt/src/x: transport endpoint is not connected"}, "Failed to sync: last error was: read /mnt/src/x: transport endpoint is not connected"},
		"a quoted child":      {[]string{`"msg"="failed to sync repo" "error"="error running command: exit status 128: \"fatal: No url found for submodule path 'k8s/x' in .gitmodules\\n\""`}, "fatal: No url found for submodule path 'k8s/x' in .gitmodules"},
	} {
		assert.Equal(t, LastLine(c.lines), c.want, name)
	}
}

// Requirements: CLI-14
func TestAProgramThatTheProcessorStopsDoesNotSayWhy(t *testing.T) {
	t.Parallel()
	for want, c := range map[string]struct {
		code  int32
		lines []string
	}{
		"":                                 {139, []string{"Downloading data from https://example.com/a.h5", "2019-01-15 05:49:31.2: I tensorflow/a.cc:964] read had no value"}},
		"loading data":                     {1, []string{"loading data"}},
		"error: no port":                   {139, []string{"error: no port", "loading data"}},
		"Segmentation fault (core dumped)": {139, []string{"loading data", "Segmentation fault (core dumped)"}},
	} {
		got, _ := LastLineOf(c.code, c.lines)
		assert.Equal(t, got, want)
	}
}

// Requirements: CLI-14
func TestLogThatEndsWithoutAnErrorHasASign(t *testing.T) {
	t.Parallel()
	for last, want := range map[string]LineSign{
		"Loaded your LOCAL configuration at [/app/pythonpath/superset_config.py]": SignNoError,
		"INFO  [alembic.runtime.migration] Will assume transactional DDL.":        SignNoError,
		`{"level":"info","msg":"synced 12 tables"}`:                               SignNoError,
		"Upgrading DB schema...":                                                  SignNoError,
		"error: no port":                                                          SignError,
		"Uploaded 3 of 4 files, no space for the last":                            SignError,
		"Unsupported host. Only these: a, b":                                      SignError,
		"epoch 3, loss 0.12":                                                      SignInside,
		"設定ファイルが見つかりません":                                                          SignInside,
	} {
		_, sign := LastLineOf(1, []string{"start", last, "+ exit 1"})
		assert.Equal(t, sign, want, last)
	}
}

// What tools and runtimes print after an error does not hide it, whatever the error.
// Requirements: CON-07
func TestLastLineIsTheSameBeforeTheNoiseOfTools(t *testing.T) {
	t.Parallel()
	noise := map[string][]string{
		"yarn":   {"error Command failed with exit code 1.", "info Visit https://yarnpkg.com/en/docs/cli/run for documentation about this command."},
		"npm":    {"npm ERR! code ELIFECYCLE", "npm ERR! errno 1", "npm ERR! A complete log of this run can be found in:", "npm notice New major version of npm available!"},
		"pip":    {"[notice] A new release of pip is available: 23.0 -> 24.0", "[notice] To update, run: pip install --upgrade pip"},
		"make":   {"make[1]: *** [Makefile:3: all] Error 1", "make: *** [Makefile:9: run] Error 2"},
		"rake":   {"", "Tasks: TOP => db:migrate", "(See full trace by running task with --trace)"},
		"Gradle": {"", "* Try:", "> Run with --stacktrace option to get the stack trace.", "> Get more help at https://help.gradle.org.", "", "BUILD FAILED in 3s"},
		"Lua":    {"stack traceback:", "\t[C]: in function 'error'", "\t/a/b.lua:67: in function </a/b.lua:63>"},
		"Go":     {"", "goroutine 1 [running]:", "main.main()", "\t/src/main.go:7 +0x2b", "exit status 2"},
		"C++":    {"", "0. a::b(int) @ 0x000000000bf65fe8", "1. ? @ 0x0000000000d149c"},
		"Ruby":   {"/srv/a.rb:3:in `run'", "\tfrom /srv/b.rb:7:in `<main>'"},
		"Sentry": {"Sentry is attempting to send 2 pending events", "Waiting up to 2 seconds", "Press Ctrl-C to quit"},
		"mpirun": {"---", "Primary job  terminated normally, but 1 process returned", "a non-zero exit code. Per user-direction, the job has been aborted.", "---"},
		"a CI":   {"Process completed with exit code 1.", "ERROR: Job failed: exit code 1"},
	}
	for _, last := range []string{"error: no port", "no port", "java.lang.IllegalStateException: no port", "FATAL:  database \"a\" does not exist", "panic: no port", "設定ファイルが見つかりません"} {
		for tool, lines := range noise {
			assert.Equalf(t, LastLine(append([]string{"starting", last}, lines...)), last, "%s after", tool)
		}
	}
}

// Requirements: CLI-14
func TestTailBeginsWithTheErrorBeforeItsStackTrace(t *testing.T) {
	t.Parallel()
	java := []string{"start", "java.lang.IllegalStateException: no port", "\tat a.b.C(D.java:7)", "\tat a.b.E(F.java:8)", "\tat a.b.G(H.java:9)"}
	python := []string{"Traceback (most recent call last):", `  File "a.py", line 3, in f`, "    return g()", "           ^^^", "ValueError: no port"}
	for name, c := range map[string]struct {
		lines []string
		n     int
		want  []string
	}{
		"a stack trace after the error":  {java, 3, java[1:4]},
		"a stack trace before the error": {WithoutMarks(python), 3, []string{python[1], python[2], python[4]}},
		"help after a known error":       {[]string{"start", "dial tcp: lookup db: no such host", "", "* see whether", "  the name is right,", "* or ask"}, 2, []string{"dial tcp: lookup db: no such host", ""}},
		"all lines":                      {java, 9, java},
		"no line in the place of it":     {[]string{"dump: error: no lock", "start", "error: x", "dumpall: error: dump failed"}, 3, []string{"dump: error: no lock", "start"}},
		"nothing that tells":             {[]string{"---", "+ a", "+ b"}, 2, []string{"+ a", "+ b"}},
		"no lines":                       {nil, 3, nil},
	} {
		tail, after := Tail(c.lines, c.n)
		assert.SlicesEqual(t, tail, c.want, name)
		if after > 0 != (len(c.want) > 0 && c.want[len(c.want)-1] != c.lines[len(c.lines)-1]) {
			t.Errorf("%s: %d lines after", name, after)
		}
	}
}

func BenchmarkLastLine(b *testing.B) {
	paths, _ := filepath.Glob("testdata/logs/*.txt")
	logs := make([][]string, len(paths))
	for i, path := range paths {
		data, err := os.ReadFile(path)
		if err != nil {
			b.Fatal(err)
		}
		logs[i] = strings.Split(string(data), "\n")
	}
	for b.Loop() {
		for _, lines := range logs {
			LastLine(lines)
		}
	}
}

// Requirements: FCT-13
func TestErrorThatALogRepeats(t *testing.T) {
	for log, want := range map[string]string{
		`2020-05-19T07:46:31.590Z [ERROR] Failure: calling /agent/self: err="Unexpected response code: 403 (ACL not found)"
2020-05-19T07:46:31.590Z [INFO]  Retrying in 1s
2020-05-19T07:46:32.601Z [ERROR] Failure: calling /agent/self: err="Unexpected response code: 403 (ACL not found)"
2020-05-19T07:46:32.601Z [INFO]  Retrying in 1s`: "Failure: calling /agent/self: Unexpected response code: 403 (ACL not found)",
		"nc: bad address 'db'\nwaiting\nnc: bad address 'db'\nwaiting":                            "nc: bad address 'db'",
		"error: connection refused\nerror: connection refused\nConnected to db":                   "",
		"error: connection refused\nwriting row 1\nwriting row 2":                                 "",
		"error: a failed\nerror: a failed\n1 row\n2 rows\n3 rows\n4 rows\n5 rows\n6 rows\n7 rows": "",
		"row 1\nrow 2": "",
		"":             "",
	} {
		assert.Equalf(t, Repeated(strings.Split(log, "\n")), want, "%s", log)
	}
}

// Requirements: CLI-18
func TestExceptionWithoutAMessageIsItsClass(t *testing.T) {
	assert.Equal(t, LastLine([]string{"Caused by: org.apache.kafka.common.errors.UnknownTopicOrPartitionException:"}), "UnknownTopicOrPartitionException")
}
