package meaning

import (
	"slices"
	"strings"
	"testing"

	"github.com/batchjob-dev/kubectl-batchjob/test/kit/assert"
)

// The catalog has the messages of programs and their meanings.
// Requirements: CLI-18
func TestFileOfAnotherArchitectureIsThatOfTheImageOrOneThatItStarts(t *testing.T) {
	for _, tc := range []struct {
		message, subject string
		kind             ErrorKind
	}{
		{"exec /bin/connect-api: exec format error\n", "/bin/connect-api", ErrorWrongArchitecture},
		{"/bin/sh: /app: cannot execute binary file: Exec format error", "/app", ErrorForeignFile},
		{"OSError: [Errno 8] Exec format error: './app'", "./app", ErrorForeignFile},
		{"Error: fork/exec .terraform/azurerm_v2: exec format error", ".terraform/azurerm_v2", ErrorForeignFile},
	} {
		if got := KnownErrorIn(126, tc.message); got == nil || got.Kind != tc.kind || got.Subject != tc.subject {
			t.Errorf("%s: %+v", tc.message, got)
		}
	}
	if got := KnownErrorIn(3, ""); got != nil {
		t.Errorf("without a message: %+v", got)
	}
}

// An operation that is forbidden to a container runtime is not an error of the program.
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

// Advice on a denied request names the account, the verb and the resource, with its API group and subresource.
// Requirements: CLI-18
func TestADeniedRequestIsRead(t *testing.T) {
	for message, want := range map[string]Access{
		`User "system:serviceaccount:ci:runner" cannot patch resource "deployments/scale" in API group "apps" in the namespace "ci"`: {Namespace: "ci", Account: "runner", Verb: "patch", Resource: "deployments.apps/scale", In: "ci"},
		`User "alice" cannot list resource "nodes" in API group "" at the cluster scope`:                                             {User: "alice", Verb: "list", Resource: "nodes"},
	} {
		e := KnownErrorIn(1, "Error from server (Forbidden): "+message)
		if e == nil || e.Access != want {
			t.Errorf("%s\ngot %+v", message, e)
			continue
		}
		assert.Contains(t, e.Advice(Container{Name: "main"}), want.Verb+" "+want.Resource, "advice")
	}
}

// A sentence has room for the account and the scope of a denied request only if its resource is not cut.
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
		{ErrorCommandNotFound, "trian", "command trian was not found in the container", "correct the command of container main, or use an image that has trian"},
		{ErrorFileMissing, tokenDir + "/token", tokenDir + "/token does not exist", "automountServiceAccountToken"},
		{ErrorNotExecutable, "/run.sh", "/run.sh may not be executed (permission denied)", "chmod +x"},
		{ErrorWrongArchitecture, "/app", "exec format error, the image is for another architecture than the node", "kubernetes.io/arch"},
		{ErrorWrongArchitecture, "/run.sh", "exec format error, the script /run.sh has no #! line, or the image is for another architecture than the node", "kubernetes.io/arch"},
		{ErrorForeignFile, "plugins/x", "exec format error: plugins/x is damaged, or for another architecture than the node", "where the program downloads it"},
		{ErrorWorkingDirectory, "/srv", "its working directory /srv does not exist, or it may not enter it", "correct workingDir"},
		{ErrorReadOnly, "/var/cache/x", "/var/cache/x is on a read-only file system", "mount a volume such as an emptyDir at /var/cache: container main has readOnlyRootFilesystem"},
		{ErrorReadOnly, "", "it wrote to a read-only file system", "mount a volume such as an emptyDir where it writes"},
		{ErrorCommandNotFound, "/bin/bash", "/bin/bash does not exist in the container", "begin command of container main with /bin/sh"},
		{ErrorPermission, "/.cache", "permission denied for /.cache", "that of an emptyDir, as the container has readOnlyRootFilesystem"},
		{ErrorPermission, "data", "permission denied for data", "fsGroup"},
		{ErrorNoSpace, "/data", "no space left on device for /data", "more space"},
		{ErrorNameResolution, "db.prod", "host name db.prod could not be resolved", "check host name db.prod"},
		{ErrorConnectionRefused, "db:5432", "connection refused by db:5432", "listens on db:5432"},
		{ErrorCertificate, "x509: expired", "the certificate of a server was not accepted: x509: expired", "the CA that signed"},
		{ErrorOutOfMemory, "Java heap space", "it ran out of memory: Java heap space", "a quarter of the memory limit, which is 512Mi"},
		{ErrorOutOfMemory, "JavaScript heap out of memory", "it ran out of memory: JavaScript heap out of memory", "--max-old-space-size"},
		{ErrorForbidden, impersonation, "it lacks a permission: iam.serviceAccounts.getAccessToken", "bind role iam.workloadIdentityUser"},
		{ErrorProcessKilled, "cc1plus", "its process cc1plus was killed, usually for lack of memory", "raise the memory limit of container main, which is 512Mi"},
		{ErrorHeapSize, "System memory 1 must be at least 2", "its heap is too small: System memory 1 must be at least 2", "raise --driver-memory (spark.driver.memory) of container main"},
		{ErrorHeapSize, "Too small maximum heap", "its heap is too small: Too small maximum heap", "a quarter of the memory limit, which is 512Mi"},
		{ErrorOutOfGPUMemory, "", "it ran out of GPU memory", "GPU"},
		{ErrorCommandNotFound, `bash\r`, "its script has the line ends of Windows (CRLF)", "line ends of Unix"},
		{ErrorAuthentication, notLoggedIn, "the API server does not accept its credentials (Unauthorized)", "or else the token of ServiceAccount default"},
		{ErrorFileMissing, "/var/run/secrets/azure/tokens/t", "/var/run/secrets/azure/tokens/t does not exist", `label azure.workload.identity/use: "true" in the pod template`},
		{ErrorEarlierState, "Could not acquire change log lock", "Could not acquire change log lock", "liquibase release-locks"},
		{ErrorModuleMissing, "pandas", "it cannot load pandas, which its image lacks", "has the module pandas"},
		{ErrorSharedMemory, "", "its shared memory (/dev/shm) is full", "emptyDir with medium: Memory at /dev/shm of container main"},
		{ErrorNoRoute, "db:5432", "there is no route to db:5432", "NetworkPolicies"},
		{ErrorAuthentication, "https://git.prod", "authentication failed (https://git.prod)", "Secret db"},
		{ErrorAuthentication, `password authentication failed for user \"app\"`, `password authentication failed for user "app"`, "the password that it was created with"},
		{ErrorNoCredentials, "", "it found no credentials for its cloud", "serviceAccountName"},
		{ErrorForbidden, "s3:PutObject", "it lacks a permission: s3:PutObject", "ServiceAccount"},
		{ErrorProcessLimit, "", "it could start no more processes or threads", "OMP_NUM_THREADS"},
		{ErrorNoGPU, "no NVIDIA driver on your system", "it found no GPU that it can use: no NVIDIA driver on your system", "request a GPU for container main in its limits"},
		{ErrorCollective, "ncclRemoteError", "it lost contact with the other workers (ncclRemoteError)", "other pods of the Job"},
	} {
		e := &KnownError{Kind: tc.kind, Subject: tc.subject}
		assert.Equal(t, e.Text(), tc.text)
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
		assert.Contains(t, e.Advice(Container{HostNetwork: true, NodeDNS: true}), want, host)
		assert.Contains(t, e.Advice(Container{HostNetwork: true}), "check host name", host, "with the DNS of the cluster")
	}
	assert.Contains(t, (&KnownError{Kind: ErrorNameResolution, Subject: "db"}).Advice(Container{NodeDNS: true}), "dnsPolicy ClusterFirst:")
	assert.Contains(t, (&KnownError{Kind: ErrorConnectionRefused, Subject: "127.0.0.1:2379"}).Advice(Container{HostNetwork: true}), "127.0.0.1:2379 is its node")
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

// Advice names where the container gets its credentials, the volume that is full, and how to resolve what a rerun finds again.
// Requirements: CLI-18
func TestAdviceOnAnErrorNamesWhatToChange(t *testing.T) {
	c := Container{Name: "main", Account: "builder", Secrets: []string{"registry"}, Arguments: []string{"--days 2"}, Mounts: []Mount{
		{Path: "/etc/app", Volume: "config", Kind: "ConfigMap app", ReadOnly: true}, {Path: "/data", Volume: "data", Kind: "claim reports"},
	}}
	const claim = "volume data (claim reports), which is mounted at /data in container main"
	for line, want := range map[string]string{
		"write /root/x: no space left on device":        "give the disk that has /root/x more space",
		"OSError: No space left on device":              claim + ", or the disk of the node",
		"scan: error: unrecognized arguments: --days 2": "give --days and 2 as two elements",
		`ERROR:  relation "blocks" already exists`:      "have the statement accept it (IF NOT EXISTS)",
	} {
		if e := KnownErrorIn(1, line); e == nil || !strings.Contains(e.Advice(c), want) {
			t.Errorf("%s: %+v, want %q", line, e, want)
		}
	}
	c.Mounts = append(c.Mounts, Mount{Path: "/tmp", Volume: "tmp", Kind: "emptyDir"})
	assert.NotContains(t, KnownErrorIn(1, "OSError: No space left on device").Advice(c), "reports", "two volumes are writable")
}

// Requirements: CLI-18
func TestAnAddressHasTheHostThatTheMessageNames(t *testing.T) {
	for line, want := range map[string]string{
		`Get "https://registry.images.svc:5000/": dial tcp 172.30.35.22:5000: i/o timeout`:                   "registry.images.svc:5000 (172.30.35.22) did not answer in time",
		`Get "https://example.com/x": proxyconnect tcp: dial tcp 10.1.1.1:3128: connect: connection refused`: "connection refused by 10.1.1.1:3128 (its proxy)",
		`Get "https://10.0.0.7:443/x": dial tcp 10.0.0.7:443: i/o timeout`:                                   "10.0.0.7:443 did not answer in time",
		`Get "https://api.prod/x": dial tcp 10.0.0.7:443: connect: no route to host`:                         "there is no route to api.prod (10.0.0.7:443)",
		`dial tcp 10.0.0.7:443: connect: connection refused`:                                                 "connection refused by 10.0.0.7:443",
	} {
		if e := KnownErrorIn(1, line); e == nil || e.Text() != want {
			t.Errorf("%s: %+v, want %q", line, e, want)
		}
	}
}

// Advice on a path that cannot be written or used depends on the volume that is mounted there.
func TestAdviceOnAPathIsByItsVolume(t *testing.T) {
	mounts := []Mount{
		{Path: "/scripts", Volume: "scripts", Kind: "ConfigMap tools", ReadOnly: true}, {Path: "/data", Volume: "data", Kind: "claim results"},
		{Path: "/input", Volume: "input", Kind: "claim datasets", ReadOnly: true}, {Path: "/key", Volume: "key", Kind: "Secret key", Private: true}, {Path: "/bucket", Volume: "bucket", IsBucket: true},
	}
	for _, tc := range []struct {
		kind       ErrorKind
		path, want string
	}{
		{ErrorReadOnly, "/scripts", "have the program change nothing in volume scripts (ConfigMap tools), which is mounted at /scripts"},
		{ErrorReadOnly, "/data/a", "check volume data (claim results), which is mounted at /data in container main: its file system is read-only"},
		{ErrorReadOnly, "/input/a", "mount volume input (claim datasets) in container main without readOnly"},
		{ErrorPermission, "/dev/termination-log", "or have its program leave that alone"},
		{ErrorPermission, "/scripts/run.sh", "check defaultMode of volume scripts (ConfigMap tools)"},
		{ErrorPermission, "/key/id", "set fsGroup in the securityContext of the pod, whose user (runAsUser 1000) may then read volume key (Secret key)"},
		{ErrorPermission, "/bucket/a", "leave out chmod and chown"},
		{ErrorPermission, "/data/a", "access to volume data (claim results), which is mounted at /data in container main: fsGroup"},
		{ErrorPermission, "/root/a.db", "/root/a.db, which is in no volume of the template: run it as another user, or mount an emptyDir at /root"},
		{ErrorPermission, "/app/a.db", "mount an emptyDir at /app (if that hides nothing of image "}, {ErrorPermission, "/var/lib/x/a", "is in no volume"}, {ErrorSSHKey, "/id:bad permissions", "leave out fsGroup 7"},
		{ErrorForeignFile, "/data/plugin", "by a whole one for the architecture of the node, in volume data (claim results)"},
	} {
		e := KnownError{Kind: tc.kind, Subject: tc.path}
		assert.Contains(t, e.Advice(Container{Name: "main", User: "1000", Mounts: mounts, FSGroup: map[bool]string{true: "7"}[tc.kind == ErrorSSHKey]}), tc.want, tc.path)
	}
}

// Advice on a server depends on its address, and on a certificate on what is wrong with it.
func TestAdviceOnAServerIsByItsAddress(t *testing.T) {
	for _, tc := range []struct {
		kind          ErrorKind
		subject, want string
	}{
		{ErrorConnectionRefused, "localhost:5432", "localhost:5432 is the pod, which has no other container"},
		{ErrorTimeout, "10.96.0.1:443", "10.96.0.1:443 is most likely the API server"},
		{ErrorTimeout, "10.1.2.1:443", "check whether 10.1.2.1:443 is the right address"}, {ErrorNoRoute, "", "check the address of the server"},
		{ErrorCertificate, "x509: certificate is valid for *.a.example, not minio.b.svc", "use a host name that the certificate is valid for"},
		{ErrorCertificate, "x509: certificate has expired or is not yet valid", "renew the certificate"},
		{ErrorCertificate, "x509: certificate signed by unknown authority", "the certificate of the CA"},
	} {
		e := KnownError{Kind: tc.kind, Subject: tc.subject}
		assert.Contains(t, e.Advice(Container{Name: "main"}), tc.want, tc.subject)
	}
}

// Requirements: CLI-18
func TestProgressIsNoError(t *testing.T) {
	for _, line := range []string{
		"Unified command center started", "required parameter count 7", "The following options are set: verbose", "The following arguments were used: --x 3", "Unused parameter: foo", "warning: undefined parameter x, using default", "error TS2339: Property 'foo' does not exist on type 'Bar'.", `jinja2: key "name" doesn't exist`, "Retrying failed migrations", "Account is already locked", "Migration is missing a dependency on 0003", "INFO Host key added to known hosts", "Host key fingerprint is known", "Failure rate exceeded threshold 5%", "INFO step done; expired credentials removed", "No password provided, using none", "INFO - Out of memory check passed", "Session cache timeout expired, reloading", "worker 10.0.0.7:4444 assigned; task 17 timed out", "dial unix /var/run/docker.sock: connect: no such file or directory",
	} {
		if e := KnownErrorIn(1, line); e != nil {
			t.Errorf("%s: %s", line, e.Kind)
		}
	}
}
