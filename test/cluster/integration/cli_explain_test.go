package integration

import (
	"context"
	"encoding/json"
	"path/filepath"
	"strings"
	"testing"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"
	"k8s.io/utils/ptr"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/reconcile"
	"github.com/batchjob-dev/kubectl-batchjob/test/kit/assert"
	"github.com/batchjob-dev/kubectl-batchjob/test/kit/tenant"
)

// viewer creates a user of the namespace with the ClusterRole view, and returns the user's name. Its rules are in another role here,
// because no controller aggregates roles.
func (f *fixture) viewer() string {
	f.t.Helper()
	view, err := f.client.RbacV1().ClusterRoles().Get(f.t.Context(), "system:aggregate-to-view", metav1.GetOptions{})
	assert.NoError(f.t, err)
	return f.reader("viewer", view.Rules...)
}

// reader creates a user of the namespace with permissions, and returns the user's name.
func (f *fixture) reader(name string, may ...rbacv1.PolicyRule) string {
	f.t.Helper()
	user := f.namespace + "-" + name
	assert.NoError(f.t, tenant.Grant(f.t.Context(), f.client, f.namespace, name, tenant.User(user), may...))
	config := rest.CopyConfig(apiServer.Config)
	config.Impersonate.UserName = user
	probe := newClient(f.t, config, "probe")
	f.until("the role counts", func() bool {
		_, err := probe.BatchV1().Jobs(f.namespace).List(context.Background(), metav1.ListOptions{})
		return err == nil
	})
	return user
}

// explanation returns the report of why -o json.
func (f *fixture) explanation(args ...string) explain.Report {
	f.t.Helper()
	c := f.startPlugin(append([]string{"why", "-o", "json"}, args...)...)
	if code := c.end(); code != 0 {
		f.t.Fatalf("exit %d\n%s", code, c.errOut.String())
	}
	var r explain.Report
	if err := json.Unmarshal([]byte(c.out.String()), &r); err != nil {
		f.t.Fatalf("%v in %s", err, c.out.String())
	}
	return r
}

// failByRule makes Job a fail: rule 1, Corrupt, is for exit code 42.
func (f *fixture) failByRule(job *batchv1.Job) *corev1.Pod {
	f.t.Helper()
	f.create(withNames("1=Corrupt", job))
	pod := f.untilActive(1)[0]
	f.kubelet.run(pod)
	f.kubelet.exit(42, pod)
	return pod
}

func corruptJob(options ...jobOption) *batchv1.Job {
	rules := failurePolicy(onDisruption(batchv1.PodFailurePolicyActionIgnore), onExit(batchv1.PodFailurePolicyActionFailJob, 42))
	return newJob(append([]jobOption{completions(1), backoffLimit(3), onNode, rules}, options...)...)
}

// wantRuleNamed checks that a report names the rule, the pod, the container and the exit code.
func wantRuleNamed(t *testing.T, r explain.Report, pod, name string) {
	t.Helper()
	if r.Verdict.Outcome != reconcile.OutcomeFailed || !ptr.Equal(r.Verdict.Rule, ptr.To[int32](1)) || r.Verdict.RuleName != name {
		t.Errorf("%+v", r.Verdict)
	}
	var known, exit bool
	for _, e := range r.Evidence {
		known = known || e.Kind == explain.EvidencePod && e.Pod == pod
		exit = exit || e.Kind == explain.EvidenceContainer && e.Container == containerName && ptr.Equal(e.ExitCode, ptr.To[int32](42))
	}
	if !known || !exit || len(r.Causes) != 1 || r.Causes[0].Count != 1 {
		t.Errorf("pod told %v, exit code told %v, causes %+v", known, exit, r.Causes)
	}
}

// CLI-08, POL-04: a user with only the ClusterRole view can run every reading verb, and no report has a gap because of
// missing permissions. -A is rejected, with a hint.
func TestViewerMayRunEveryReadingVerb(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.startController(f.telling)
	pod := f.failByRule(corruptJob())
	f.untilFinished("a", batchv1.JobFailed, "PodFailurePolicy_Corrupt", 0, 1)
	f.untilEvent("a", "PodFailurePolicy_Corrupt")
	viewer := f.viewer()
	f.startPlugin("status", "--as", viewer).wantEnd(0, "Failed", "")
	f.startPlugin("status", "a", "--as", viewer).wantEnd(0, "Corrupt", "")
	f.startPlugin("wait", "a", "--as", viewer).wantEnd(3, "job.batch/a Failed", "")
	f.startPlugin("watch", "a", "--plain", "--exit-status", "--as", viewer).wantEnd(3, "Corrupt", "")
	f.startPlugin("retry", "a", "--dry-run=client", "--as", viewer).wantEnd(0, "a-retry-1", "")
	f.startPlugin("what-if", "a", "--set", "backoffLimit=1", "--as", viewer).wantEnd(0, "", "")
	f.startPlugin("bundle", "a", "-f", filepath.Join(t.TempDir(), "bundle.tar.gz"), "--as", viewer).wantEnd(0, "bundle.tar.gz", "")
	f.startPlugin("status", "-A", "--as", viewer).wantEnd(1, "", "or choose a namespace with -n")
	c := f.startPlugin("why", "a", "--full", "--as", viewer)
	c.wantEnd(0, "exit code 42", "")
	if all := c.out.String() + c.errOut.String(); strings.Contains(all, "permission") || strings.Contains(all, "can-i") || !strings.Contains(all, pod.Name) {
		t.Errorf("%s", all)
	}
	r := f.explanation("a", "--as", viewer)
	wantRuleNamed(t, r, pod.Name, "Corrupt")
	known := false
	for _, m := range r.Timeline {
		known = known || m.What == "Event"
	}
	if r.Counts.Pods == nil || *r.Counts.Pods != 1 {
		t.Errorf("pods: %+v, events told %v", r.Counts, known)
	}
	for _, g := range r.Gaps {
		if g.Command != "" || g.What != "logs" { // There is no kubelet to provide logs.
			t.Errorf("%+v", g)
		}
	}
}

// CLI-08: without some permissions the explanation is shorter, and lists the gaps; without permission to read Jobs there
// is only an error.
func TestMissingPermissionsShortenTheAnswer(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.startController()
	pod := f.failByRule(corruptJob())
	f.untilFinished("a", batchv1.JobFailed, "PodFailurePolicy_Corrupt", 0, 1)
	user := f.reader("jobs-only", tenant.Allow("batch", "jobs", "get", "list"))
	c := f.startPlugin("why", "a", "--full", "--as", user)
	c.wantEnd(0, `rule 1 "Corrupt"`, "")
	for _, part := range []string{"exit code 42", pod.Name, "kubectl auth can-i list pods -n " + f.namespace, "kubectl auth can-i list events -n " + f.namespace} {
		assert.Contains(t, c.out.String(), part)
	}
	assert.NotContains(t, c.out.String(), "is gone", "it says that what it may not read is gone")
	f.startPlugin("status", "a", "--as", user).wantEnd(0, "Failed", "")
	f.startPlugin("status", "--as", user).wantEnd(0, "Failed", "")
	f.startPlugin("wait", "a", "--as", user, "--timeout=0").wantEnd(3, "Failed", "")
	for _, verb := range []string{"why", "status", "wait"} {
		c := f.startPlugin(verb, "a", "--as", f.namespace+"-nobody")
		c.wantEnd(1, "", "kubectl auth can-i ")
		if strings.Count(c.errOut.String(), "\n") != 1 || c.out.String() != "" {
			t.Errorf("%s: %q %q", verb, c.out.String(), c.errOut.String())
		}
	}
}
