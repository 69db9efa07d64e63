package wording

import (
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"pgregory.net/rapid"

	"github.com/batchjob-dev/kubectl-batchjob/test/kit/assert"
)

// Messages of clusters keep the part that says why: the end of an error that wraps others, the numbers of a quota, the first
// sentences of prose; no fields of values.
func TestShortMessageKeepsItsReason(t *testing.T) {
	const (
		constraints = `unable to validate against any security context constraint: [provider "anyuid": Forbidden: not usable by user or serviceaccount, provider restricted-v2: .spec.securityContext.fsGroup: Invalid value: []int64{10001}: 10001 is not an allowed group, `
		runtime     = `failed to create containerd task: failed to create shim task: OCI runtime create failed: runc create failed: unable to start container process: `
		pull        = `rpc error: code = Unknown desc = failed to pull and unpack image "ghcr.io/acme/etl:7": failed to resolve reference "ghcr.io/acme/etl:7": `
	)
	long := strings.Repeat("x", 90)
	for _, tc := range []struct {
		message string
		most    int
		want    string
	}{
		{"DB::Exception: The value of `number_of_free_entries_in_pool_to_execute_mutation` setting (25) is greater than the value of `background_pool_size` (24). This is wrong", 110, "DB::Exception: `number_…_to_execute_mutation` setting (25) is greater than `background_pool_size` (24)"},
		{"ERROR: unable to write '/repo/shared/backup/db/20200815/pg_data/base/118197.gz.tmp'", 60, "ERROR: unable to write '/repo/…/118197.gz.tmp'"},
		// Security context constraints of OpenShift: the last error that is not a repetition.
		{constraints + `provider "nonroot": Forbidden: not usable by user or serviceaccount, provider "privileged": Forbidden: not usable by user or serviceaccount]`, 100,
			`unable to validate against any… .spec.securityContext.fsGroup: 10001 is not an allowed group`},
		{constraints + `provider restricted-v2: .containers[0].runAsUser: Invalid value: 0: must be in the ranges: [1000690000, 1000699999], provider "nonroot": Forbidden: not usable by user or serviceaccount]`, 100,
			`.containers[0].runAsUser: Invalid value: 0: must be in the ranges: [1000690000, 1000699999]`},
		{`provider "a": Forbidden: not usable, spec.containers[0].securityContext.runAsUser: Invalid value: 0: must be in the ranges: [1000690000, 1000699999]`, 90,
			`runAsUser: Invalid value: 0: must be in the ranges: [1000690000, 1000699999]`},
		{`The CustomResourceDefinition "gadgets.example.com" is invalid: spec.preserveUnknownFields: Invalid value: true: must be false in order to use defaults`, 100,
			`gadgets.example.com is invalid: spec.preserveUnknownFields: must be false in order to use defaults`},
		// The exit status of another program says nothing.
		{`tool: cannot configure the disks: cannot make a key: no answer for client.a from ` + long + `: cannot get client.a: exit status 1`, 60,
			`tool: cannot configure the disks… cannot get client.a`},
		// Runtimes.
		{runtime + `error during container init: error setting cgroup config for procHooks process: failed to write "1000": write /sys/fs/cgroup/kubepods.slice/cpu.max: invalid argument: unknown`, 100,
			`failed to write "1000": write /sys/fs/cgroup/kubepods.slice/cpu.max: invalid argument`},
		{runtime + `exec: "sh -c 'echo step: 1'": executable file not found in $PATH: unknown`, 60, `"sh -c 'echo step: 1'": executable file not found in $PATH`},
		{runtime + `exec: "trian": executable file not found in $PATH: unknown`, 160, `exec: "trian": executable file not found in $PATH`},
		// Images.
		{pull + `failed to authorize: failed to fetch anonymous token: unexpected status from GET request to https://ghcr.io/token?scope=repository%3Aacme%2Fetl%3Apull&service=ghcr.io: 401 Unauthorized`, 100,
			`unexpected status from GET request to https://ghcr.io/token?…: 401 Unauthorized`},
		{pull + `failed to do request: Head "https://ghcr.io/v2/acme/etl/manifests/7": dial tcp: lookup ghcr.io on 10.0.0.2:53: no such host`, 100,
			`failed to pull and unpack image… dial tcp: lookup ghcr.io on 10.0.0.2:53: no such host`},
		{`failed to copy: httpReadSeeker: failed open: unexpected status code https://registry-1.docker.io/v2/library/python/manifests/3.12: 429 Too Many Requests - Server message: toomanyrequests: You have reached your unauthenticated pull rate limit. https://www.docker.com/increase-rate-limit`, 100,
			`toomanyrequests: You have reached your unauthenticated pull rate limit`},
		{`unable to pull image or OCI artifact: pull image err: initializing source docker://acme/etl:7: reading manifest 7 in docker.io/acme/etl: requested access to the resource is denied; artifact err: get manifest: build image source: reading manifest 7 in docker.io/acme/etl: requested access to the resource is denied`, 100,
			`reading manifest 7 in docker.io/acme/etl: requested access to the resource is denied`},
		// A field stays with its limit.
		{`Error: UPGRADE FAILED: chart requires kubeVersion: >= v1.27.13 which is incompatible with Kubernetes v1.26.15+rke2r1`, 100,
			`chart requires kubeVersion: >= v1.27.13 which is incompatible with Kubernetes v1.26.15+rke2r1`},
		// Quotas.
		{`exceeded quota: budget, requested: pods=1, used: pods=10, limited: pods=10`, 100, `exceeded quota: budget, requested: pods=1, used: pods=10, limited: pods=10`},
		{`requested: limits.cpu=2,limits.memory=4Gi,requests.cpu=2, used: limits.cpu=99,limits.memory=199Gi,requests.cpu=99, limited: limits.cpu=100,limits.memory=200Gi,requests.cpu=100`, 100,
			`requested: limits.cpu=2…, used: limits.cpu=99…, limited: limits.cpu=100…`},
		{`must specify limits.cpu for: main,proxy; limits.memory for: main,proxy; requests.cpu for: main,proxy; requests.memory for: main,proxy`, 100,
			`must specify limits.cpu for: main,proxy; limits.memory for: main,proxy; requests.cpu for: main,proxy`},
		// Admission.
		{`failed calling webhook "mutate.kyverno.svc-fail": failed to call webhook: Post "https://kyverno-svc.kyverno.svc:443/mutate/fail?timeout=10s": dial tcp 10.96.143.201:443: connect: connection refused`, 100,
			`failed calling webhook… dial tcp 10.96.143.201:443: connect: connection refused`},
		{`spec.template: Invalid value: core.PodTemplateSpec{ObjectMeta:v1.ObjectMeta{Name:"", Labels:map[string]string{"job-name":"train"}, Finalizers:[]string(nil)}, Spec:core.PodSpec{Containers:[]core.Container{core.Container{Name:"main"}}}}: field is immutable`, 100,
			`spec.template: field is immutable`},
		{`allowPrivilegeEscalation != false (container "main" must set securityContext.allowPrivilegeEscalation=false), unrestricted capabilities (container "main" must set securityContext.capabilities.drop=["ALL"])`, 100,
			`allowPrivilegeEscalation != false (container "main" must set…`},
		// Schedulers.
		{`0/5 nodes are available: 1 node(s) had untolerated taint {node-role.kubernetes.io/control-plane: }, 4 Insufficient cpu. preemption: 0/5 nodes are available: 5 Preemption is not helpful for scheduling.`, 160,
			`0/5 nodes are available: 1 node(s) had untolerated taint {node-role.kubernetes.io/control-plane: }, 4 Insufficient cpu`},
		{`0/5 nodes are available: 1 node(s) had untolerated taint {node-role.kubernetes.io/control-plane: }, 4 Insufficient cpu`, 60, `0/5 nodes are available: 1 node(s) had untolerated taint…`},
		{`incompatible with nodepool "default", daemonset overhead={"cpu":"210m","memory":"240Mi","pods":"5"}, no instance type has enough resources`, 110,
			`incompatible with nodepool "default", daemonset overhead=…, no instance type has enough resources`},
		// Evictions: the beginning of a report with several sentences is its subject.
		{"The node was low on resource: memory. Threshold quantity: 100Mi, available: 92140Ki. Container etl was using 9421Mi, request is 1Gi", 100,
			"The node was low on resource: memory. Threshold quantity: 100Mi, available: 92140Ki"},
		// A general sentence before one with names.
		{`Error: manifests contain a resource that already exists. Unable to continue: Service "hello" in namespace "shop" exists and belongs to another release`, 100,
			`Unable to continue: Service "hello" in namespace "shop" exists and belongs to another release`},
		{`Service returned an error. Status=403 Code="Forbidden" Message="Caller is not authorized to perform action on resource.\r\nIf roles were changed, wait."`, 100,
			`Status=403 Code="Forbidden" Message="Caller is not authorized to perform action on resource`},
		{"Permission denied. Contact the owner of the storage account that the volume of this workload is stored in", 60, "Permission denied"},
		{`Error: UPGRADE FAILED: current release manifest contains removed kubernetes api(s) for this kubernetes version and it is therefore unable to build the kubernetes objects for performing the diff. error from kubernetes: unable to recognize "": no matches for kind "PodSecurityPolicy" in version "policy/v1beta1"`, 100,
			`Error: UPGRADE FAILED: current… no matches for kind "PodSecurityPolicy" in version "policy/v1beta1"`},
		{"Migration failed. The table that it needs is locked by another session of the user", 70, "The table that it needs is locked by another session of the user"},
		{"Error. The table that it needs is locked by another session of the user", 70, "The table that it needs is locked by another session of the user"},
		{`The migration failed. User "app" does not own the table, so it cannot be altered by it`, 70, `User "app" does not own the table, so it cannot be altered by it`},
		{"cannot open the file that everybody needs for their daily work. Try --file=3 instead of that", 70, "cannot open the file that everybody needs for their daily work"},
		// Folders of containers, and quotes in quotes.
		{`error mounting "/run/containerd/io.containerd.runtime.v2.task/k8s.io/` + strings.Repeat("3f", 32) + `/opt/bin" to rootfs at "/opt/bin": no such file or directory`, 100,
			`error mounting "…/opt/bin" to rootfs at "/opt/bin": no such file or directory`},
		// Colons in quotes and brackets separate nothing, unless they are open.
		{"calling " + long + `: Get "http://a: b": refused`, 100, `Get "http://a: b": refused`},
		{"container cannot run (pod: " + long + ", container: main)", 100, "container cannot run"},
		{"calling " + long + ": wrong (a: b", 100, "wrong (a: b"},
		// Programs.
		{"ValueError: learning rate must be positive", 22, "learning rate must be…"},
		{`{"level":"error","msg":"cannot connect to the database","error":"dial tcp 10.0.0.1:5432: connect: connection refused"}`, 60, `{"level":"error","msg":"cannot connect to the…`},
		// The verb, what it is about and the reason stay together; names are shortened by themselves.
		{`error: error validating "STDIN": error validating data: SchemaError(gitlab.com/aws/eks-extension-metrics-apiserver/pkg/apis/metrics/v1.ETCD.metadata): unknown model in reference: "k8s.io~1apimachinery~1pkg~1apis~1meta~1v1.ObjectMeta"; if you choose to ignore these errors, turn validation off with --validate=false`, 103,
			`SchemaError(…/eks-extension-metrics-apiserver/…): unknown model in reference: "…/v1.ObjectMeta"`},
		{"unable to initialize ZITADEL: ID=DATAB-0pIWD Message=Errors.Database.Connection.Failed Parent=(failed to connect to `host=crdb user=zitadel database=zitadel`: failed SASL auth (ERROR: password authentication failed for user zitadel (SQLSTATE 28P01)))", 100,
			`unable to initialize… failed SASL auth: ERROR: password authentication failed for user zitadel`},
		{"ConnectionError: Failed to connect to Ray at address: http://rayjob-sample-raycluster-vkbxr-head-svc.default.svc.cluster.local:8265.", 100,
			"Failed to connect to Ray at address: http://rayjob-sample-raycluster-vkbxr-head-svc.default.svc:8265"},
		{"unable to read/decode monmap from /var/lib/ceph/osd/ceph-2/activate.monmap: (13) Permission denied", 75,
			"unable to read/decode monmap from /var/…/activate.monmap: Permission denied"},
		{"code: 159, message: Distributed DDL task /clickhouse/signoz/task_queue/ddl/query-0000000000 is not finished on 1 of 1 hosts (0 of them are currently executing the task, 0 are inactive). They are going to execute the query in background", 98,
			"Distributed DDL task /clickhouse/…/query-0000000000 is not finished on 1 of 1 hosts"},
		{"curl: option -k http://elasticsearch-master:9200/_ilm/policy/datahub_usage_event_policy: is unknown", 98,
			"curl: option -k http://elasticsearch-master:9200/…/datahub_usage_event_policy: is unknown"},
		{"first line.\nsecond line", 100, "first line"},
		{"failed to write the file that every node of the region has: permission denied", 60, "failed to write the file that every node… permission denied"},
		{"", 10, ""}, {"x", 0, ""}, {"\xff\xff error", 100, "\uFFFD error"},
	} {
		assert.Equalf(t, Shorten(tc.message, tc.most), tc.want, "%s\n in %d", tc.message, tc.most)
	}
}

// A value in a column is cut after a word; a word alone is cut anywhere, and a value in quotes is left out.
func TestCut(t *testing.T) {
	for _, tc := range []struct {
		text string
		most int
		want string
	}{
		{"FailedCreate: ResourceQuota budget is exhausted", 30, "FailedCreate: ResourceQuota…"},
		{"1 Insufficient nvidia.com/gpu, 8 Too many pods", 30, "1 Insufficient nvidia.com/gpu…"},
		{"abcdef", 4, "abc…"}, {"äöüß", 4, "äöüß"}, {"äöüßä", 4, "äöü…"}, {"abc", 0, ""}, {"ab cdefghijkl", 6, "ab cd…"},
		{`cannot open "a b c"`, 17, "cannot open…"}, {"taint {dedicated: batch}", 20, "taint {dedicated…"}, {"the taint {a: b}", 14, "the taint…"},
	} {
		assert.Equalf(t, Cut(tc.text, tc.most), tc.want, "%q in %d", tc.text, tc.most)
	}
}

// What is shortened has no more characters than it may have, and only whole words of the message, unless one of them is too long.
func TestShortTextHasWholeWords(t *testing.T) {
	piece := rapid.SampledFrom([]string{" ", " ", " ", ": ", ". ", "; ", ", ", "a", "be", "cat", "größe", `"`, "(", ")", "{a: b}", "[", "]", "=1", "/usr/bin/x", "日本語", "\n"})
	bare := func(word string) string { return strings.Trim(word, `.,;:…[]`) }
	rapid.Check(t, func(t *rapid.T) {
		message := strings.Join(rapid.SliceOfN(piece, 0, 60).Draw(t, "pieces"), "")
		most := rapid.IntRange(0, 60).Draw(t, "most")
		for name, short := range map[string]string{"Shorten": Shorten(message, most), "Cut": Cut(message, most)} {
			if !fits(short, most) || !utf8.ValidString(short) {
				t.Fatalf("%s: %q has more than %d characters, or others", name, short, most)
			}
			for _, word := range strings.Fields(short) {
				if bare(word) != "" && !slices.ContainsFunc(strings.Fields(message), func(w string) bool {
					return bare(w) == bare(word) || strings.HasPrefix(bare(w), bare(word)) && (!fits(w, most-1) || strings.ContainsAny(w, `"{`))
				}) {
					t.Fatalf("%s: %q has a part of a word of %q: %q", name, short, message, word)
				}
			}
		}
		if last := LastClauses(message, most); !strings.HasSuffix(message, last) || last == "" && message != "" {
			t.Fatalf("%q is not the end of %q", last, message)
		}
	})
}

func TestBytesAreCutBetweenCharacters(t *testing.T) {
	for most, want := range map[int]string{0: "", 1: "a", 2: "a", 3: "aä", 9: "aä"} {
		assert.Equal(t, CutBytes("aä", most), want, most)
	}
}
