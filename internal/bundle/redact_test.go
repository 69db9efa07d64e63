package bundle

import (
	"encoding/json"
	"fmt"
	"regexp"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain/analysis"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain/input"
	"github.com/batchjob-dev/kubectl-batchjob/test/kit/assert"
	"github.com/batchjob-dev/kubectl-batchjob/test/world/recorded"
)

// No file of a bundle contains any form of secret, and the bundle says what was removed.
// Requirements: BUN-04, BUN-05
func TestSecretsAreLeftOut(t *testing.T) {
	jwt := "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0NTY3ODkwIn0.dozjgNryP4J3jVmNHl0w5N_XgL0n3I9PlFUP0THsR8U"
	hidden := []string{"hunter22", "s3cr3t-in-annotation", "Tr0ub4dor", jwt, "AKIAIOSFODNN7EXAMPLE", "ghp_0123456789abcdefghijklmnopqrstuvwxyz", "MIIEpAIBAAKCAQEA", "opensesame", "C-12345678", "c2VjcmV0cGFzcw=="}
	c := simple(
		"login with "+jwt, "key AKIAIOSFODNN7EXAMPLE", "git clone https://ghp_0123456789abcdefghijklmnopqrstuvwxyz@github.com/x", "-----BEGIN RSA PRIVATE KEY-----", "MIIEpAIBAAKCAQEA",
		"-----END RSA PRIVATE KEY-----", `{"password": "opensesame", "user": "joe"}`, "customer C-12345678 refused", "Authorization: Basic c2VjcmV0cGFzcw==", "exit 1",
	)
	read, archive := bundled(t, c, regexp.MustCompile(`C-[0-9]{8}`))
	files := unpacked(t, archive)
	wantNowhere(t, files, hidden...)
	assert.Equal(t, len(files), len(read.Manifest.Files)+1, read.Manifest.Files)
	for _, kept := range []string{`"note": "kept"`, `"secretKeyRef"`, `"joe"`} {
		assert.Contains(t, files[jobFile]+files["logs/train-a/main.log"], strings.ReplaceAll(kept, `"joe"`, "joe"), kept)
	}
	counts := map[string]int{}
	for _, r := range read.Manifest.Removed {
		counts[r.What] += r.Count
	}
	for _, what := range []string{envValue, lastApplied, "JSON web token", "AWS access key", "GitHub token", "private key", "password in a URL", "named secret", "authorization header", "text that matches --redact, number 1"} {
		if counts[what] == 0 {
			t.Errorf("%q is not among what was removed: %v", what, counts)
		}
	}
	if log := read.log("train-a", "main", false); log == nil || log.Lines[len(log.Lines)-1] != "exit 1" {
		t.Errorf("log %+v", log)
	}
	if log := read.log("train-a", "main", true); log == nil || len(log.Lines) != 1 || log.Lines[0] != "before" {
		t.Errorf("previous log %+v", log)
	}
}

// wantNowhere checks that no file has any of these texts, in its name or its data.
func wantNowhere(t *testing.T, files map[string]string, texts ...string) {
	t.Helper()
	for name, data := range files {
		for _, text := range texts {
			if i := strings.Index(name+data, text); i >= 0 {
				t.Errorf("%s has %.300s", name, (name + data)[max(0, i-100):])
			}
		}
	}
}

// forms are texts, one for each known form, with the secrets that must be removed.
var forms = []struct {
	text   string
	hidden []string
}{
	{"key AKIAIOSFODNN7EXAMPLE and ASIAIOSFODNN7EXAMPLE.", []string{"AKIAIOSFODNN7EXAMPLE", "ASIAIOSFODNN7EXAMPLE"}},
	{"aws_secret_access_key = wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY", []string{"wJalrXUtnFEMI", "EXAMPLEKEY"}},
	{"github_pat_11ABCDEFG0123456789_abcdefghijklmnopqrstuvwxyz", []string{"11ABCDEFG"}},
	{"ghs_0123456789abcdefghijklmnopqrstuvwxyz", []string{"0123456789abc"}},
	{"glpat-abcdefghij0123456789", []string{"abcdefghij"}},
	{"AIzaSyA1234567890abcdefghijklmnopqrstuv", []string{"SyA1234567890"}},
	{"ya29.a0AfH6SMBx-1234567890abcdef", []string{"a0AfH6SMB"}},
	{`{"type": "service_account", "private_key": "-----BEGIN PRIVATE KEY-----\nMIIEvQIBADAN\n-----END PRIVATE KEY-----\n"}`, []string{"MIIEvQIBADAN"}},
	{"xoxb-123456789012-abcdefghijkl", []string{"123456789012"}},
	{"POST https://hooks.slack.com/services/T0000/B0000/abcdefghijklmnop", []string{"abcdefghijklmnop"}},
	{"hf_abcdefghijklmnopqrstuvwxyz0123456789", []string{"abcdefghijklm"}},
	{"sk-proj-abcdefghijklmnopqrstuvwxyz", []string{"abcdefghijklm"}},
	{"curl -H 'Authorization: Bearer abc.def-123456'", []string{"abc.def-123456"}},
	{"bearer abcdefgh12345678==", []string{"abcdefgh12345678"}},
	{"postgres://app:Tr0ub4@dor@db/x", []string{"Tr0ub4", "dor@"}},
	{"https://abcdefghijklmnopqrstuvwx@example.com/repo.git", []string{"abcdefghijklmnopqrstuvwx"}},
	{"GET /blob?sv=2022&sig=abcdefgh%2F12345678&x=1", []string{"abcdefgh"}},
	{`password: "correct horse battery staple"`, []string{"correct", "staple"}},
	{`msg="{\"password\":\"opensesame\"}"`, []string{"opensesame"}},
	{"DB_PASS=opensesame SECRET_KEY=abc\\def123", []string{"opensesame", "abc", "def123"}},
	{"run --db-password opensesame --verbose", []string{"opensesame"}},
	{"client-key-data: LS0tLS1CRUdJTiBSU0EgUFJJVkFURSBLRVk=", []string{"BSU0EgUFJ"}},
	{"certificate-authority-data: LS0tLS1CRUdJTiBDRVJUSUZJQ0FURS0=", []string{"BDRVJUSUZ"}},
}

// Every known form of a secret is removed from a text, also in the middle of a log.
// Requirements: BUN-04
func TestKnownFormsAreLeftOut(t *testing.T) {
	for _, tc := range forms {
		for _, around := range [][2]string{{"", ""}, {"2026-01-01 INFO ", " (retrying)"}, {"before\n", "\nafter"}} {
			r := newRedactor(nil)
			text := r.text("f", around[0]+tc.text+around[1])
			for _, secret := range tc.hidden {
				assert.NotContains(t, text, secret)
			}
			if !strings.HasPrefix(text, around[0]) || !strings.HasSuffix(text, around[1]) || len(r.removals()) == 0 {
				t.Errorf("%q became %q", tc.text, text)
			}
		}
	}
}

// Text that only looks like a secret stays.
// Requirements: BUN-04
func TestOtherTextStays(t *testing.T) {
	r := newRedactor(nil)
	for _, text := range []string{
		"token bucket is empty", "no password given", "https://example.com:8443/path?x=1", "reading the secret s in 3 s", "key=3", "a task-list",
		"line one\nline two\n", "mail joe@example.com", "eyJ is no token", "--verbose --retries 3",
	} {
		assert.Equal(t, r.text("f", text), text)
	}
}

// A token that is broken across two lines is removed, and so is a key of which a log has only the end.
// Requirements: BUN-04
func TestSecretsAcrossLines(t *testing.T) {
	for text, want := range map[string]string{
		"one\nkey AKIAIOSF\nODNN7EXAMPLE used\ntwo\n":              "one\nkey [removed: AWS access key] used\ntwo\n",
		"a\n\ntoken is ghp_0123456789abcdefghij\nklmnopqrstuvwxyz": "a\n\ntoken is [removed: GitHub token]",
		"Qm9ndXM=\n-----END RSA PRIVATE KEY-----\nready\n":         "[removed: private key]\nready\n",
		"-----BEGIN EC PRIVATE KEY-----\nMHcCAQEE":                 "[removed: private key]",
	} {
		assert.Equalf(t, newRedactor(nil).text("f", text), want, "%q became", text)
	}
}

// Secrets are removed from all fields of a Job, its pods and events.
// Requirements: BUN-04
func TestSecretsInObjects(t *testing.T) {
	c := simple("exit 1")
	pod := &c.Pods[0]
	pod.Annotations = map[string]string{"example.com/api-token": "annotated1", "note": "password=annotated2"}
	pod.Spec.Containers[0].Args = []string{"--token", "argument1", "--name", "kept-argument"}
	pod.Spec.Containers[0].Command = []string{"sh", "-c", "export PGPASSWORD=command1; run"}
	pod.Spec.Containers[0].LivenessProbe = &corev1.Probe{ProbeHandler: corev1.ProbeHandler{HTTPGet: &corev1.HTTPGetAction{
		HTTPHeaders: []corev1.HTTPHeader{{Name: "X-Auth", Value: "header1"}},
	}}}
	pod.Status.ContainerStatuses = []corev1.ContainerStatus{{Name: "main", State: corev1.ContainerState{
		Terminated: &corev1.ContainerStateTerminated{ExitCode: 1, Reason: "Error", Message: "login failed: token=terminated1"},
	}}}
	c.Events = []corev1.Event{{InvolvedObject: corev1.ObjectReference{Kind: "Pod", Name: pod.Name}, Message: "pulling https://joe:event1xyz@registry.example/x"}}
	_, archive := bundled(t, c)
	files := unpacked(t, archive)
	wantNowhere(t, files, "annotated1", "annotated2", "argument1", "command1", "header1", "terminated1", "event1xyz")
	assert.Contains(t, files[podsFile], "kept-argument")
}

// Arguments of known programs, and arguments that are variables, lose their secrets, however the command is split into
// words; the other arguments stay.
// Requirements: BUN-04
func TestSecretsInArguments(t *testing.T) {
	for _, tc := range []struct{ command, args, wantCommand, wantArgs []string }{
		{[]string{"mysql"}, []string{"-uroot", "-psecret1", "app"}, []string{"mysql"}, []string{"-uroot", "-p<>", "app"}},
		{[]string{"/usr/bin/curl", "-u"}, []string{"joe:secret 1", "https://x"}, []string{"/usr/bin/curl", "-u"}, []string{"joe:<>", "https://x"}},
		{[]string{"timeout", "5", "redis-cli", "-a", "secret1", "ping"}, nil, []string{"timeout", "5", "redis-cli", "-a", "<>", "ping"}, nil},
		{nil, []string{"--password=secret 1", "--name=two words"}, nil, []string{"--password=<>", "--name=two words"}},
		{[]string{"env", "DB_PASSWORD=secret 1", "run"}, nil, []string{"env", "DB_PASSWORD=<>", "run"}, nil},
		{[]string{"env", "DB_PASSWORD=$(DB_PASSWORD)", "run"}, nil, []string{"env", "DB_PASSWORD=$(DB_PASSWORD)", "run"}, nil},
		{[]string{"sh", "-c", "PASSWORD=secret1 run --all"}, nil, []string{"sh", "-c", "PASSWORD=<> run --all"}, nil},
		{[]string{"psql", "-p", "5432"}, nil, []string{"psql", "-p", "5432"}, nil},
	} {
		c := simple("exit 1")
		container := &c.Pods[0].Spec.Containers[0]
		container.Command, container.Args = tc.command, tc.args
		read, _ := bundled(t, c)
		container = &read.Pods[0].Spec.Containers[0]
		got := mark.ReplaceAllString(fmt.Sprintf("%q %q", container.Command, container.Args), "<>")
		assert.Equal(t, got, fmt.Sprintf("%q %q", tc.wantCommand, tc.wantArgs))
	}
}

// A pattern may quote the secret itself, so no file contains the pattern either.
// Requirements: BUN-05
func TestPatternIsNotInTheBundle(t *testing.T) {
	_, archive := bundled(t, simple("the word is swordfish"), regexp.MustCompile("swordfish"))
	wantNowhere(t, unpacked(t, archive), "swordfish")
}

// Text that matches a pattern is in no file, name or key; the bundle can still be read, and its objects still refer to each
// other.
// Requirements: BUN-05
func TestPatternMatchesNamesAndKeys(t *testing.T) {
	c := simple("acme: customer of acme-a", "exit 1")
	c.Job.SetName("acme-train")
	c.Job.SetLabels(map[string]string{"acme.example/team": "acme", "team": "x"})
	c.Job.SetNamespace("acme")
	c.Manifest.Name, c.Manifest.Namespace = "acme-train", "acme"
	c.Manifest.Lease = &input.Lease{Namespace: "acme", Name: "l", Holder: "acme-0", Renewed: c.Manifest.Taken.Time, Duration: time.Minute}
	c.Manifest.GoneNodes = map[string]string{"acme-node": "gone"}
	c.Manifest.Gaps = []input.Gap{{What: "events", Text: "no permission to list events in namespace acme", Command: "kubectl auth can-i list events -n acme"}}
	pod := &c.Pods[0]
	pod.Name, pod.Namespace, pod.Spec.NodeName = "acme-train-a", "acme", "acme-node"
	pod.Spec.NodeSelector = map[string]string{"acme.example/pool": "acme"}
	pod.Spec.Containers[0].Name = "acme-main"
	pod.Spec.Containers[0].Resources.Limits = corev1.ResourceList{"acme.example/gpu": resource.MustParse("2")}
	pod.Status.ContainerStatuses = []corev1.ContainerStatus{{Name: "acme-main", State: corev1.ContainerState{Terminated: &corev1.ContainerStateTerminated{ExitCode: 1, Reason: "Error"}}}}
	other := *pod.DeepCopy()
	other.Name = "acme-train-b"
	c.Pods = append(c.Pods, other)
	for i := range c.Logs {
		c.Logs[i].Pod, c.Logs[i].Container = pod.Name, "acme-main"
	}
	for _, pattern := range []string{"acme", "acme-train-[ab]|acme"} {
		read, archive := bundled(t, c, regexp.MustCompile(pattern))
		wantNowhere(t, unpacked(t, archive), "acme")
		for _, name := range namesIn(t, archive) {
			assert.NotContains(t, name, "acme", "a file is called")
		}
		if read.Pods[0].Name == read.Pods[1].Name || read.Manifest.Name != read.Job.GetName() || read.Logs[0].Pod != read.Pods[0].Name || read.Logs[0].Container != read.Pods[0].Spec.Containers[0].Name {
			t.Errorf("%s: pods %s and %s, job %s, log of %s", pattern, read.Pods[0].Name, read.Pods[1].Name, read.Manifest.Name, read.Logs[0].Pod)
		}
		input, err := read.Input()
		if err != nil || len(input.Logs) == 0 || input.GoneNodes[input.Pods[0].Node] == "" {
			t.Errorf("%s: logs %v, nodes %v, %v", pattern, input.Logs, input.GoneNodes, err)
		}
	}
}

// The values of labels, annotations and selectors are redacted whatever their keys, even if a field of the API has the same
// name.
// Requirements: BUN-05
func TestPatternMatchesLabelsNamedLikeFields(t *testing.T) {
	c := simple("exit 1")
	all := map[string]string{"tenantIndexes": "a0-b", "divisor": "2", "sizeLimit": "3"}
	for _, name := range enums {
		all[name] = "acme-billing"
	}
	pod := &c.Pods[0]
	c.Job.SetLabels(all)
	pod.Labels, pod.Annotations, pod.Spec.NodeSelector = all, all, all
	pod.Spec.TopologySpreadConstraints = []corev1.TopologySpreadConstraint{{LabelSelector: &metav1.LabelSelector{MatchLabels: all}}}
	read, archive := bundled(t, c, regexp.MustCompile("acme|^a0-b$|^[23]$"))
	wantNowhere(t, unpacked(t, archive), "acme")
	pod = &read.Pods[0]
	for _, labels := range []map[string]string{read.Job.GetLabels(), pod.Labels, pod.Annotations, pod.Spec.NodeSelector, pod.Spec.TopologySpreadConstraints[0].LabelSelector.MatchLabels} {
		for name := range all {
			if !strings.HasPrefix(labels[name], "redacted-") {
				t.Errorf("%s is %q", name, labels[name])
			}
		}
	}
}

// managedFields contains no names that a pattern matches elsewhere, including extended resources. The manager that suspended
// the Job stays.
// Requirements: BUN-05, BUN-10
func TestPatternMatchesNamesInManagedFields(t *testing.T) {
	c := simple("exit 1")
	suspended := `{"f:spec":{"f:suspend":{},"f:template":{"f:spec":{"f:containers":{"k:{\"name\":\"acme\"}":{"f:resources":{"f:limits":{"f:acme.com/gpu":{}},"f:requests":{"f:acme.com/gpu":{}}}}}}}}}`
	c.Job.SetManagedFields([]metav1.ManagedFieldsEntry{
		{Manager: "kubectl", Operation: "Update", APIVersion: "batch/v1", FieldsType: "FieldsV1", FieldsV1: metav1.NewFieldsV1(suspended)},
		{Manager: "other", Operation: "Update", APIVersion: "batch/v1", FieldsType: "FieldsV1", FieldsV1: metav1.NewFieldsV1(`{"f:metadata":{"f:labels":{"f:acme.com/x":{}}}}`)},
	})
	read, archive := bundled(t, c, regexp.MustCompile("^acme"))
	wantNowhere(t, unpacked(t, archive), "acme")
	for i, want := range []string{`{"f:spec":{"f:suspend":{}}}`, "{}"} {
		assert.Equal(t, read.Job.GetManagedFields()[i].FieldsV1.GetRawString(), want, "fields")
	}
}

// Times, types, statuses, phases, reasons, UIDs, counts and quantities stay as they are, whatever a pattern matches: the
// bundle can be read, and its report has the same facts.
// Requirements: BUN-10
func TestPatternLeavesFactsAlone(t *testing.T) {
	files, err := recorded.Files("../../pkg/explain/analysis/testdata/recorded")
	if err != nil || len(files) == 0 {
		t.Fatal(files, err)
	}
	for n := 0; n < len(files); n += 5 {
		c, err := recorded.Load(files[n])
		assert.NoError(t, err)
		contents := contentsOf(&c, 0)
		plain, _ := bundled(t, contents)
		for _, pattern := range []string{"[0-9]+", "20[0-9-]+", "(?i)failed", "True|False", "Complete", "[a-f0-9]{8}", "Job", "batch", "job-"} {
			read, _ := bundled(t, contents, regexp.MustCompile(pattern))
			want, got := explanationOf(t, plain), explanationOf(t, read)
			if w, g := facts(&want), facts(&got); w != g {
				t.Errorf("%s without %s: %s became %s", c.Name, pattern, w, g)
			}
		}
	}
}

func explanationOf(t *testing.T, c *Contents) explain.Report {
	t.Helper()
	input, err := c.Input()
	assert.NoError(t, err)
	return analysis.Explain(input, explain.Options{MaxPods: -1})
}

// facts returns the parts of a report other than names, sentences, and causes, which come from messages.
func facts(r *explain.Report) string {
	counts, _ := json.Marshal(r.Counts)
	text := fmt.Sprintf("%s %s %s %s", r.Verdict.Outcome, counts, r.Job.UID, r.Job.Created)
	for _, c := range r.Conditions {
		text += fmt.Sprint(" ", c.Type, c.Status, c.Reason, c.Since)
	}
	for i := range r.Pods {
		p := &r.Pods[i]
		text += fmt.Sprint(" ", p.Phase, p.State, p.Created, p.Ended, p.Counted, p.Index != nil)
	}
	return text
}
