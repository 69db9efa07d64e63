package meaning

import (
	"slices"
	"strings"
	"testing"
)

// The messages come from runc, crun, shells, libc, and programs in several languages.
//
// Requirements: CLI-18
func TestMessagesOfProgramsAndRuntimesHaveMeanings(t *testing.T) {
	const runc = "failed to create containerd task: failed to create shim task: OCI runtime create failed: runc create failed: unable to start container process: "
	for _, tc := range []struct {
		code    int32
		message string
		kind    ErrorKind
		subject string
	}{
		{128, runc + `exec: "/manager": stat /manager: no such file or directory: unknown`, ErrorCommandNotFound, "/manager"},
		{128, runc + `error during container init: exec: "trian": executable file not found in $PATH: unknown`, ErrorCommandNotFound, "trian"},
		{127, "container create failed: executable file `trian` not found in $PATH: No such file or directory", ErrorCommandNotFound, "trian"},
		{0, "container create failed: exec container process `/app`: No such file or directory", ErrorCommandNotFound, "/app"},
		{1, "exec /docker-entrypoint.sh: no such file or directory", ErrorCommandNotFound, "/docker-entrypoint.sh"},
		{1, "standard_init_linux.go:228: exec user process caused: no such file or directory", ErrorCommandNotFound, ""},
		{127, "/bin/sh: 1: pg_dmp: not found", ErrorCommandNotFound, "pg_dmp"},
		{127, "sh: pg_dmp: not found", ErrorCommandNotFound, "pg_dmp"},
		{127, "bash: line 1: pg_dmp: command not found", ErrorCommandNotFound, "pg_dmp"},
		{1, "/run.sh: line 12: jq: command not found", ErrorCommandNotFound, "jq"},
		{127, "bash: ./x.sh: No such file or directory", ErrorCommandNotFound, "./x.sh"},
		{126, "bash: ./x.sh: /bin/zsh: bad interpreter: No such file or directory", ErrorCommandNotFound, "/bin/zsh"},
		{127, "/usr/bin/env: ‘python’: No such file or directory", ErrorCommandNotFound, "python"},
		{127, "env: can't execute 'bash': No such file or directory", ErrorCommandNotFound, "bash"},
		{2, "python3: can't open file '/app/mian.py': [Errno 2] No such file or directory", ErrorCommandNotFound, "/app/mian.py"},
		{1, "bucket: not found", "", ""},
		{128, runc + `exec: "/docker-entrypoint.sh": permission denied: unknown`, ErrorNotExecutable, "/docker-entrypoint.sh"},
		{126, "sh: ./run.sh: Permission denied", ErrorNotExecutable, "./run.sh"},
		{126, "container create failed: exec container process `/run.sh`: Permission denied", ErrorNotExecutable, "/run.sh"},
		{255, "exec /bin/connect-api: exec format error\n", ErrorWrongArchitecture, "/bin/connect-api"},
		{1, "standard_init_linux.go:228: exec user process caused: exec format error", ErrorWrongArchitecture, ""},
		{126, "/bin/sh: /app: cannot execute binary file: Exec format error", ErrorWrongArchitecture, "/app"},
		{1, "OSError: [Errno 8] Exec format error: './app'", ErrorWrongArchitecture, "./app"},
		{128, runc + `chdir to cwd ("/srv/app") set in config.json failed: no such file or directory: unknown`, ErrorWorkingDirectory, "/srv/app"},

		{1, "mkdir: can't create directory '/var/cache/collect': Read-only file system", ErrorReadOnly, "/var/cache/collect"},
		{1, "OSError: [Errno 30] Read-only file system: '/data/out'", ErrorReadOnly, "/data/out"},
		{1, "2026/01/02 03:04:05 open /tmp/x: read-only file system", ErrorReadOnly, "/tmp/x"},
		{1, `nginx: [emerg] mkdir() "/var/cache/nginx/client_temp" failed (30: Read-only file system)`, ErrorReadOnly, "/var/cache/nginx/client_temp"},
		{1, "Error: EROFS: read-only file system, open '/app/log'", ErrorReadOnly, "/app/log"},
		{1, "cp: error writing '/data/a': No space left on device", ErrorNoSpace, "/data/a"},
		{1, "OSError: [Errno 28] No space left on device", ErrorNoSpace, ""},
		{1, "PermissionError: [Errno 13] Permission denied: '/data/out'", ErrorPermission, "/data/out"},
		{1, "open /data/out: permission denied", ErrorPermission, "/data/out"},
		{126, "[FATAL tini (7)] exec /run.sh failed: Permission denied", ErrorNotExecutable, "/run.sh"},
		{1, "git@github.com: Permission denied (publickey).", ErrorAuthentication, "git@github.com"},
		{1, `ERROR:  permission denied for table orders`, "", ""},

		{1, "psycopg2.OperationalError: could not translate host name \"db.prod\" to address: Temporary failure in name resolution\n", ErrorNameResolution, "db.prod"},
		{1, "dial tcp: lookup db.prod on 10.96.0.10:53: no such host", ErrorNameResolution, "db.prod"},
		{1, "Get \"http://api/\": dial tcp: lookup api: Temporary failure in name resolution", ErrorNameResolution, "api"},
		{6, "curl: (6) Could not resolve host: api.prod", ErrorNameResolution, "api.prod"},
		{1, "wget: bad address 'api.prod:8080'", ErrorNameResolution, "api.prod:8080"},
		{4, "wget: unable to resolve host address ‘api.prod’", ErrorNameResolution, "api.prod"},
		{1, "Caused by: java.net.UnknownHostException: db.prod: Name or service not known\n\tat java.base/java.net.Inet6AddressImpl.lookupAllHostAddr(Native Method)\n\t... 12 more", ErrorNameResolution, "db.prod"},
		{1, "Error: getaddrinfo ENOTFOUND db.prod\n    at GetAddrInfoReqWrap.onlookup [as oncomplete] (node:dns:107:26)", ErrorNameResolution, "db.prod"},
		{1, "socket.gaierror: [Errno -3] Temporary failure in name resolution", ErrorNameResolution, ""},
		{1, `requests.exceptions.ConnectionError: HTTPSConnectionPool(host='api', port=443): Max retries exceeded with url: / (Caused by NameResolutionError("<x>: Failed to resolve 'api' ([Errno -2] Name or service not known)"))`, ErrorNameResolution, "api"},
		{1, "redis.exceptions.ConnectionError: Error -2 connecting to redis:6379. Name or service not known.", ErrorNameResolution, "redis"},
		{1, `(2003, "Can't connect to MySQL server on 'db' ([Errno -2] Name or service not known)")`, ErrorNameResolution, "db"},
		{100, "Temporary failure resolving 'deb.debian.org'", ErrorNameResolution, "deb.debian.org"},
		{128, "ssh: Could not resolve hostname git.prod: Name or service not known", ErrorNameResolution, "git.prod"},

		{1, "dial tcp 10.0.0.7:5432: connect: connection refused", ErrorConnectionRefused, "10.0.0.7:5432"},
		{2, "psql: error: connection to server at \"db\" (10.0.0.7), port 5432 failed: Connection refused\n\tIs the server running on that host and accepting TCP/IP connections?", ErrorConnectionRefused, "db:5432"},
		{7, "curl: (7) Failed to connect to api port 80 after 2 ms: Connection refused", ErrorConnectionRefused, "api:80"},
		{7, "curl: (7) Failed to connect to api port 80 after 5022 ms: Couldn't connect to server", ErrorTimeout, "api:80"},
		{1, "Error: connect ECONNREFUSED 10.0.0.7:6379", ErrorConnectionRefused, "10.0.0.7:6379"},
		{1, "org.postgresql.util.PSQLException: Connection to db:5432 refused.\nCaused by: java.net.ConnectException: Connection refused", ErrorConnectionRefused, ""},
		{1, "ConnectionRefusedError: [Errno 111] Connection refused", ErrorConnectionRefused, ""},

		{1, "tls: failed to verify certificate: x509: certificate signed by unknown authority", ErrorCertificate, "x509: certificate signed by unknown authority"},
		{1, "ssl.SSLCertVerificationError: [SSL: CERTIFICATE_VERIFY_FAILED] certificate verify failed: self-signed certificate (_ssl.c:1006)", ErrorCertificate, "self-signed certificate"},
		{60, "curl: (60) SSL certificate problem: certificate has expired", ErrorCertificate, "certificate has expired"},

		{1, `Exception in thread "main" java.lang.OutOfMemoryError: Java heap space`, ErrorOutOfMemory, "Java heap space"},
		{134, "FATAL ERROR: Reached heap limit Allocation failed - JavaScript heap out of memory", ErrorOutOfMemory, "JavaScript heap out of memory"},
		{1, "fork: Cannot allocate memory", ErrorOutOfMemory, ""},
		{1, "MemoryError", ErrorOutOfMemory, ""},
		{134, "terminate called after throwing an instance of 'std::bad_alloc'\n  what():  std::bad_alloc", ErrorOutOfMemory, ""},
		{1, "torch.cuda.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB", ErrorOutOfGPUMemory, ""},
		{1, "RuntimeError: CUDA error: out of memory", ErrorOutOfGPUMemory, ""},

		{3, "", "", ""},
		{1, "ValueError: bad input", "", ""},
	} {
		got := KnownErrorIn(tc.code, tc.message)
		if got == nil {
			got = &KnownError{}
		}
		if got.Kind != tc.kind || got.Subject != tc.subject {
			t.Errorf("%s\ngot  %+v\nwant %s of %q", tc.message, *got, tc.kind, tc.subject)
		}
	}
}

// An operation that is forbidden to a container runtime is not an error of the program.
//
// Requirements: CLI-18
func TestMessagesOfARuntimeAreAboutTheStart(t *testing.T) {
	for message, want := range map[string]string{
		`failed to create shim task: OCI runtime create failed: runc create failed: exec: "trian": executable file not found in $PATH: unknown`: "trian",
		`OCI runtime create failed: mkdir /sys/fs/cgroup/memory/x: permission denied: unknown`:                                                  "",
		`failed to reserve sandbox name: dial unix /run/x.sock: connect: connection refused`:                                                    "",
	} {
		if got := StartErrorIn(message); got == nil && want != "" || got != nil && got.Subject != want {
			t.Errorf("%s: %+v", message, got)
		}
	}
}

// An error that a program survived is not the reason for its failure: another error follows it.
//
// Requirements: CLI-18
func TestTheLastErrorCounts(t *testing.T) {
	const survived = "WARN cache: dial tcp 10.0.0.7:6379: connect: connection refused"
	if got := KnownErrorIn(1, survived, "Traceback (most recent call last):", `  File "/app/main.py", line 3, in <module>`, "ValueError: bad input"); got != nil {
		t.Errorf("got %+v", got)
	}
	if got := KnownErrorIn(1, survived, "giving up after 5 attempts"); got == nil || got.Kind != ErrorConnectionRefused {
		t.Errorf("got %+v", got)
	}
}

// A program that lost contact with the others of its kind may have said before why.
//
// Requirements: CLI-18
func TestAnErrorThatFollowsFromAnotherYieldsToIt(t *testing.T) {
	lines := []string{
		"ssh: Could not resolve hostname worker-0.worker: Name or service not known", "------", "ORTE was unable to reliably start one or more daemons.",
		"* not finding the required libraries", "settings, or configure OMPI with --enable-orterun-prefix-by-default",
	}
	if got := KnownErrorIn(1, lines...); got == nil || got.Kind != ErrorNameResolution || LineOfError(1, lines) != 0 {
		t.Errorf("got %+v of line %d", got, LineOfError(1, lines))
	}
	if got := KnownErrorIn(1, lines[1:]...); got == nil || got.Kind != ErrorCollective || LineOfError(1, lines[1:]) != 1 {
		t.Errorf("got %+v", got)
	}
	if got := LineOfError(1, []string{"done"}); got != -1 {
		t.Errorf("got line %d", got)
	}
}

// Advice on a denied request names the account, the verb and the resource, with its API group and subresource.
//
// Requirements: CLI-18
func TestADeniedRequestIsRead(t *testing.T) {
	for message, want := range map[string]Access{
		`User "system:serviceaccount:ci:runner" cannot get resource "pods/log" in API group "" in the namespace "builds"`:            {Namespace: "ci", Account: "runner", Verb: "get", Resource: "pods/log", In: "builds"},
		`User "system:serviceaccount:ci:runner" cannot patch resource "deployments/scale" in API group "apps" in the namespace "ci"`: {Namespace: "ci", Account: "runner", Verb: "patch", Resource: "deployments.apps/scale", In: "ci"},
		`User "alice" cannot list resource "nodes" in API group "" at the cluster scope`:                                             {User: "alice", Verb: "list", Resource: "nodes"},
		`User "system:serviceaccount:default:default" cannot create jobs.batch in the namespace "default"`:                           {Namespace: "default", Account: "default", Verb: "create", Resource: "jobs.batch", In: "default"},
	} {
		e := KnownErrorIn(1, "Error from server (Forbidden): "+message)
		if e == nil || e.Access != want {
			t.Errorf("%s\ngot %+v", message, e)
			continue
		}
		if advice := e.Advice(Container{Name: "main"}); !strings.Contains(advice, want.Verb+" "+want.Resource) {
			t.Errorf("advice %q", advice)
		}
	}
}

// A sentence has room for the account and the scope of a denied request only if its resource is not cut.
//
// Requirements: CLI-18
func TestTheResourceOfADeniedRequestIsNotCut(t *testing.T) {
	long := strings.Repeat("long-", 8)
	for message, want := range map[string]string{
		`User "system:serviceaccount:operators:operator" cannot delete resource "gadgets" in API group "things.example.com" at the cluster scopeFailed to clean up`: "ServiceAccount operator cannot delete gadgets.things.example.com at the cluster scope",
		`User "system:serviceaccount:ns:` + long + `" cannot delete resource "gadgets" in API group "things.example.com" at the cluster scope`:                      "ServiceAccount " + long + " cannot delete gadgets.things.example.com",
		`User "` + long + long + `" cannot delete resource "gadgets" in API group "things.example.com" at the cluster scope`:                                        "cannot delete gadgets.things.example.com",
	} {
		if e := KnownErrorIn(1, message); e == nil || e.Text() != "it lacks a permission: "+want {
			t.Errorf("%s\ngot %+v\nwant %s", message, e, want)
		}
	}
}

// Requirements: CLI-18
func TestRefusedCredentialsHaveTheServiceAndItsWords(t *testing.T) {
	request := "Request: [URL=https://api.example.com/v1/things]. Response: [StatusCode=401 Unauthorized]"
	for want, lines := range map[string][]string{
		"authentication failed (api.example.com)":      {request, "exiting"},
		"The token has expired (api.example.com)":      {request, "| {", `|   "message" : "The token has expired."`, "| }"},
		"The token has expired":                        {"401 Unauthorized", `{`, `"message":"The token has expired"`},
		"authentication failed":                        {"401 Unauthorized", "no message"},
		"authentication failed (https://x.example/v1)": {"401 Client Error: Unauthorized for url: https://x.example/v1"},
	} {
		if e := KnownErrorIn(1, lines...); e == nil || e.Kind != ErrorAuthentication || e.Text() != want {
			t.Errorf("got %+v, want %q", e, want)
		}
	}
}

// Programs report files, modules and GPUs that they can do without: such an error is the reason for a failure only if it is one
// of the last lines.
//
// Requirements: CLI-18
func TestCasualErrorsCountAtTheEndOnly(t *testing.T) {
	more := []string{"migrating 1 of 3", "migrating 2 of 3", "migrating 3 of 3"}
	for _, line := range []string{"cat: /run/motd: No such file or directory", "INFO: No module named 'triton'", "failed call to cuInit: no CUDA-capable device is detected"} {
		if got := KnownErrorIn(1, append([]string{line}, more[1:]...)...); got == nil {
			t.Errorf("%s: no error", line)
		}
		if got := KnownErrorIn(1, append([]string{line}, more...)...); got != nil {
			t.Errorf("%s: %+v", line, got)
		}
	}
}

// Messages of containers may contain anything.
func FuzzKnownErrorIn(f *testing.F) {
	for _, r := range slices.Concat(startErrors, setupErrors, programErrors) {
		for _, p := range r.patterns {
			f.Add(p.hint + ": " + p.line.String())
		}
	}
	f.Fuzz(func(t *testing.T, message string) {
		for _, code := range []int32{1, 126, 127} {
			if e := KnownErrorIn(code, message); e != nil && (e.Kind == "" || len(e.Subject) > len(message) || strings.Contains(e.Subject, "\n")) {
				t.Errorf("%q: %+v", message, e)
			}
		}
	})
}

// Requirements: CLI-18
func TestErrorsHaveAMeaningAndAdvice(t *testing.T) {
	for _, tc := range []struct {
		kind                  ErrorKind
		subject, text, advice string
	}{
		{ErrorCommandNotFound, "trian", "command trian was not found in the container", "fix the command of container main"},
		{ErrorCommandNotFound, "/app/trian", "/app/trian does not exist in the container", "fix the command of container main"},
		{ErrorNotExecutable, "/run.sh", "permission denied, /run.sh is not executable", "chmod +x"},
		{ErrorWrongArchitecture, "/app", "exec format error, the image is for another architecture than the node", "kubernetes.io/arch"},
		{ErrorWrongArchitecture, "/run.sh", "exec format error, the script /run.sh has no #! line, or the image is for another architecture than the node", "kubernetes.io/arch"},
		{ErrorWorkingDirectory, "/srv", "its working directory /srv does not exist, or it may not enter it", "correct workingDir"},
		{ErrorReadOnly, "/var/cache/x", "/var/cache/x is on a read-only file system", "mount a volume such as an emptyDir at /var/cache: container main has readOnlyRootFilesystem"},
		{ErrorReadOnly, "", "it wrote to a read-only file system", "mount a volume such as an emptyDir where it writes"},
		{ErrorPermission, "/data", "permission denied for /data", "fsGroup"},
		{ErrorNoSpace, "/data", "no space left on device for /data", "more space"},
		{ErrorNameResolution, "db.prod", "host name db.prod could not be resolved", "check host name db.prod"},
		{ErrorConnectionRefused, "db:5432", "connection refused by db:5432", "listens on db:5432"},
		{ErrorCertificate, "x509: expired", "the certificate of a server was not accepted: x509: expired", "the CA that signed"},
		{ErrorOutOfMemory, "Java heap space", "it ran out of memory: Java heap space", "a quarter of the memory limit, which is 512Mi"},
		{ErrorOutOfMemory, "JavaScript heap out of memory", "it ran out of memory: JavaScript heap out of memory", "--max-old-space-size"},
		{ErrorOutOfMemory, "", "it ran out of memory", "raise the memory limit of container main, which is 512Mi"},
		{ErrorProcessKilled, "cc1plus", "its process cc1plus was killed, usually for lack of memory", "raise the memory limit of container main, which is 512Mi"},
		{ErrorHeapSize, "System memory 1 must be at least 2", "its heap is too small: System memory 1 must be at least 2", "raise --driver-memory (spark.driver.memory) of container main"},
		{ErrorHeapSize, "Too small maximum heap", "its heap is too small: Too small maximum heap", "a quarter of the memory limit, which is 512Mi"},
		{ErrorOutOfGPUMemory, "", "it ran out of GPU memory", "GPU"},
		{ErrorCommandNotFound, `bash\r`, "its script has the line ends of Windows (CRLF)", "line ends of Unix"},
		{ErrorCommandNotFound, `$'\r'`, "its script has the line ends of Windows (CRLF)", "line ends of Unix"},
		{ErrorFileMissing, "/data/in.csv", "/data/in.csv does not exist", "volume"},
		{ErrorModuleMissing, "pandas", "it cannot load pandas, which its image lacks", "has the module pandas"},
		{ErrorSharedMemory, "", "its shared memory (/dev/shm) is full", "emptyDir with medium: Memory at /dev/shm of container main"},
		{ErrorTimeout, "db:5432", "db:5432 did not answer in time", "NetworkPolicies"},
		{ErrorNoRoute, "db:5432", "there is no route to db:5432", "NetworkPolicies"},
		{ErrorAuthentication, "https://git.prod", "authentication failed (https://git.prod)", "Secret db"},
		{ErrorAuthentication, `password authentication failed for user \"app\"`, `password authentication failed for user "app"`, "the password that it was created with"},
		{ErrorNoCredentials, "", "it found no credentials for its cloud", "serviceAccountName"},
		{ErrorForbidden, "s3:PutObject", "it lacks a permission: s3:PutObject", "ServiceAccount"},
		{ErrorProcessLimit, "", "it could start no more processes or threads", "OMP_NUM_THREADS"},
		{ErrorNoGPU, "no NVIDIA driver on your system", "it found no GPU that it can use: no NVIDIA driver on your system", "requests a GPU"},
		{ErrorGPUFault, "", "its GPU is faulty", "another node"},
		{ErrorCollective, "ncclRemoteError", "it lost contact with the other workers (ncclRemoteError)", "other pods of the Job"},
	} {
		e := &KnownError{Kind: tc.kind, Subject: tc.subject}
		if got := e.Text(); got != tc.text {
			t.Errorf("got  %s\nwant %s", got, tc.text)
		}
		if got := e.Advice(Container{Name: "main", Image: "app:1", ReadOnlyRoot: true, MemoryLimit: "512Mi", Secrets: []string{"db"}}); !strings.Contains(got, tc.advice) {
			t.Errorf("%s: advice %q, want %q", tc.kind, got, tc.advice)
		}
		if got := e.Brief(); len(got) < 5 || len(got) > 20 { // Of 30 characters, "exit 127: " takes ten.
			t.Errorf("%s in brief: %q", tc.kind, got)
		}
		bare := &KnownError{Kind: tc.kind}
		for _, text := range []string{bare.Text(), bare.Advice(Container{Name: "main", Image: "app:1"})} {
			if text == "" || strings.Contains(text, "%!") || strings.Contains(text, "  ") {
				t.Errorf("%s without a subject: %q", tc.kind, text)
			}
		}
	}
}

// Requirements: CLI-14
func TestNameOfAServiceNeedsTheDNSOfTheCluster(t *testing.T) {
	for host, want := range map[string]string{
		"db": "ClusterFirstWithHostNet", "minio.minio.svc.cluster.local": "ClusterFirstWithHostNet", "db.prod.svc": "ClusterFirstWithHostNet", "s3.example.com": "check host name",
	} {
		e := &KnownError{Kind: ErrorNameResolution, Subject: host}
		if got := e.Advice(Container{HostNetwork: true, NodeDNS: true}); !strings.Contains(got, want) {
			t.Errorf("%s: %s", host, got)
		}
		if got := e.Advice(Container{HostNetwork: true}); !strings.Contains(got, "check host name") {
			t.Errorf("%s with the DNS of the cluster: %s", host, got)
		}
	}
	if got := (&KnownError{Kind: ErrorNameResolution, Subject: "db"}).Advice(Container{NodeDNS: true}); !strings.Contains(got, "dnsPolicy ClusterFirst:") {
		t.Error(got)
	}
}

func TestEveryErrorHasARowWithAllOfItsColumns(t *testing.T) {
	seen := map[ErrorKind]bool{}
	for _, r := range slices.Concat(startErrors, setupErrors, programErrors) {
		if r.kind == "" || seen[r.kind] || len(r.patterns) == 0 || r.brief == "" || (r.text == "") == (r.describe == nil) || r.advice == "" && r.advise == nil {
			t.Errorf("%+v", r)
		}
		seen[r.kind] = true
	}
}
