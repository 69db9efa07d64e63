package status

import (
	"encoding/json"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain"
	"github.com/batchjob-dev/kubectl-batchjob/test/kit/clitest"
)

// withStatus returns a Job of ns1 with these numbers of active and ready pods.
func withStatus(name string, active, ready int64) *unstructured.Unstructured {
	job := clitest.SimpleJob("ns1", name, 0)
	job.Object["status"].(map[string]any)["active"] = active
	job.Object["status"].(map[string]any)["ready"] = ready
	return job
}

// refusal returns the event that no pod of the Job could be created.
func refusal(job *unstructured.Unstructured, message string) *corev1.Event {
	return &corev1.Event{
		ObjectMeta: metav1.ObjectMeta{Namespace: "ns1", Name: job.GetName() + ".1"}, Type: "Warning", Reason: "FailedCreate", Message: message,
		InvolvedObject: corev1.ObjectReference{Kind: "Job", Name: job.GetName(), UID: job.GetUID()},
		FirstTimestamp: metav1.NewTime(clitest.Now().Add(-2 * time.Minute)), LastTimestamp: metav1.NewTime(clitest.Now().Add(-time.Minute)),
	}
}

// pendingPod returns a pod of the Job whose container waits.
func pendingPod(job *unstructured.Unstructured, reason string) *corev1.Pod {
	pod := clitest.EndedPod(job, job.GetName()+"-a", 0, "")
	pod.Labels["batch.kubernetes.io/job-name"] = job.GetName()
	pod.Status = corev1.PodStatus{Phase: corev1.PodPending, ContainerStatuses: []corev1.ContainerStatus{{Name: "main", State: clitest.Waits(reason, "")}}}
	return pod
}

// stalledJobs returns a cluster with the Jobs healthy, image (no image), refused (no ServiceAccount), and zero
// (parallelism 0), and a failed one.
func stalledJobs(t *testing.T) *clitest.Objects {
	t.Helper()
	image, refused, zero := withStatus("image", 2, 0), withStatus("refused", 0, 0), withStatus("zero", 0, 0)
	zero.Object["spec"].(map[string]any)["parallelism"] = int64(0)
	o := clitest.NewObjects(t, withStatus("healthy", 2, 1), image, refused, zero, clitest.FailedJob("lost"))
	o.Pods.Put(pendingPod(image, "ImagePullBackOff"))
	second := pendingPod(image, "ImagePullBackOff")
	second.Name = "image-b"
	o.Pods.Put(second)
	o.Events = append(o.Events, refusal(refused, `Error creating: pods "refused-x" is forbidden: error looking up service account ns1/nope: serviceaccount "nope" not found`))
	return o
}

// statuses returns the STATUS by name of the Job; no cell of the table but the last contains a space.
func statuses(out string) map[string]string {
	found := map[string]string{}
	for _, line := range strings.Split(strings.TrimSpace(out), "\n")[1:] {
		words := strings.Fields(line)
		found[words[0]] = words[1]
	}
	return found
}

// Issue 17, point 3: the list shows which Jobs are stalled and why, with two more requests.
// Requirements: CLI-06
func TestListShowsStalledJobs(t *testing.T) {
	o := stalledJobs(t)
	got := program.Run(t, o.API, "status", "-o", "wide")
	if got.Code != 0 || got.ErrOut != "" {
		t.Fatalf("exit %d, %q", got.Code, got.ErrOut)
	}
	for name, want := range map[string]string{"healthy": "Running", "image": "Stalled", "refused": "Stalled", "zero": "Stalled", "lost": "Failed"} {
		if is := statuses(got.Out)[name]; is != want {
			t.Errorf("%s is %s, want %s", name, is, want)
		}
	}
	for _, reason := range []string{" ImagePullBackOff ", " FailedCreate: ServiceAccount nope in namespace ns1 does not exist ", " NoParallelism "} {
		if !strings.Contains(got.Out, reason) {
			t.Errorf("no reason %q in\n%s", reason, got.Out)
		}
	}
	pods, events := o.Queries("/pods"), o.Queries("/events")
	if len(pods) != 1 || len(events) != 1 {
		t.Fatalf("requests %q, %q", pods, events)
	}
	for query, parts := range map[string][]string{
		pods[0]:   {"fieldSelector=status.phase!=Succeeded,status.phase!=Failed", "labelSelector=batch.kubernetes.io/job-name in (image)", "limit=500"},
		events[0]: {"fieldSelector=involvedObject.kind=Job,type=Warning", "limit=500"},
	} {
		plain, _ := url.QueryUnescape(query)
		for _, part := range parts {
			if !strings.Contains(plain, part) {
				t.Errorf("%s does not ask for %s", plain, part)
			}
		}
	}
}

// Issue 17, point 3: a list of Jobs that run or have ended costs no additional request.
func TestHealthyJobsCostNoRequest(t *testing.T) {
	o := clitest.NewObjects(t, withStatus("a", 2, 2), withStatus("b", 2, 1), clitest.FailedJob("c"))
	for _, args := range []string{"status", "status -o json", "status a b --problems"} {
		program.Run(t, o.API, strings.Fields(args)...)
	}
	program.Run(t, stalledJobs(t).API, "status", "-o", "name")
	if asked := append(o.Queries("/pods"), o.Queries("/events")...); len(asked) > 0 {
		t.Errorf("%q", asked)
	}
}

// Issue 17, point 3: --problems works for scripts, too, and -o json has the reason in a field of its own.
// Requirements: CLI-06
func TestProblemsAreAFilter(t *testing.T) {
	o := stalledJobs(t)
	if got := program.Run(t, o.API, "status", "--problems", "-o", "name"); got.Out != "job.batch/image\njob.batch/lost\njob.batch/refused\njob.batch/zero\n" {
		t.Errorf("%q, %q", got.Out, got.ErrOut)
	}
	got := program.Run(t, o.API, "status", "healthy", "refused", "-o", "json")
	var list struct {
		Items []struct {
			Metadata metav1.ObjectMeta
			Stalled  *explain.Stall
		}
	}
	if err := json.Unmarshal([]byte(got.Out), &list); err != nil || len(list.Items) != 2 {
		t.Fatalf("%v in %s", err, got.Out)
	}
	if healthy := list.Items[0]; healthy.Stalled != nil {
		t.Errorf("healthy: %+v", healthy.Stalled)
	}
	stall := list.Items[1].Stalled
	if stall == nil || stall.Kind != explain.ProblemCreationRefused || stall.Text != "pods cannot be created: ServiceAccount nope in namespace ns1 does not exist" || stall.Since.IsZero() {
		t.Errorf("%+v", stall)
	}
	for _, args := range [][]string{{"status", "--problems"}, {"status", "--problems", "a"}} {
		none := program.Run(t, clitest.NewAPI(t, withStatus("a", 1, 1)), args...)
		if none.Out != "" || none.Code != 0 || none.ErrOut != "No failed or stalled jobs found in ns1 namespace.\n" {
			t.Errorf("%q: %+v", args, none)
		}
	}
	missing := program.Run(t, clitest.NewAPI(t), "status", "--problems", "a")
	if missing.Code == 0 || strings.Contains(missing.ErrOut, "No failed") {
		t.Errorf("%+v", missing)
	}
}

// A Job with a failed index cannot succeed, however many other indexes run, unless it has a successPolicy.
// Requirements: CLI-06
func TestProblemsIncludeJobsThatWillFail(t *testing.T) {
	failing := withStatus("failing", 2, 2)
	spared := withStatus("spared", 2, 2)
	for _, job := range []*unstructured.Unstructured{failing, spared} {
		spec := job.Object["spec"].(map[string]any)
		spec["completionMode"], spec["completions"], spec["backoffLimitPerIndex"] = "Indexed", int64(9), int64(1)
		job.Object["status"].(map[string]any)["failedIndexes"] = "3"
	}
	spared.Object["spec"].(map[string]any)["successPolicy"] = map[string]any{"rules": []any{map[string]any{"succeededCount": int64(2)}}}
	if got := program.Run(t, clitest.NewAPI(t, failing, spared), "status", "--problems", "-o", "name"); got.Out != "job.batch/failing\n" {
		t.Errorf("%q, %q", got.Out, got.ErrOut)
	}
}

// CLI-08: without the permissions, the list shows no stalls, and one line names what is missing.
func TestListWithoutPermissionForStalls(t *testing.T) {
	o := stalledJobs(t)
	o.API.SetRefuse(func(r *http.Request) *clitest.Status {
		if strings.HasSuffix(r.URL.Path, "/pods") || strings.HasSuffix(r.URL.Path, "/events") {
			return &clitest.Status{Code: 403, Reason: "Forbidden", Message: "no"}
		}
		return nil
	})
	got := program.Run(t, o.API, "status")
	const note = "Jobs that are stalled may be shown as Running: pods could not be read: no permission to list pods in namespace ns1; " +
		"events could not be read: no permission to list events in namespace ns1. " +
		"Check it with: kubectl auth can-i list pods -n ns1; kubectl auth can-i list events -n ns1\n"
	if got.Code != 0 || got.ErrOut != note {
		t.Errorf("exit %d, %q", got.Code, got.ErrOut)
	}
	if is := statuses(got.Out); is["zero"] != "Stalled" || is["image"] != "Running" {
		t.Errorf("%v", is)
	}
}

// Issue 17, point 3: a list that is followed rereads stalls, and prints what has changed.
// Requirements: CLI-06
func TestWatchedListShowsStalls(t *testing.T) {
	job := withStatus("train", 1, 0)
	o := clitest.NewObjects(t, job)
	clock := clitest.NewClock()
	s := watching(t, o.API, clock.Env(), "--no-headers")
	s.WaitLines(1)
	o.Pods.Put(pendingPod(job, "ErrImagePull"))
	clitest.WaitFor(t, func() bool { clock.Fire(); return strings.Contains(s.Out.String(), "Stalled") }, s.Out.String)
	o.API.Put(withStatus("train", 1, 1))
	lines := s.WaitLines(3)
	s.Interrupt()
	s.End()
	for i, want := range []string{"train Running", "train Stalled", "train Running"} {
		if !strings.HasPrefix(strings.Join(strings.Fields(lines[i]), " "), want) {
			t.Errorf("line %d: %q", i, lines[i])
		}
	}
	if s.ErrOut.String() != "" {
		t.Errorf("%q", s.ErrOut.String())
	}
}

// With --problems, the first row of a Job is printed when it has a problem, and another one when that is over.
func TestWatchedProblemsBeginWithOne(t *testing.T) {
	api := clitest.NewAPI(t, withStatus("a", 1, 1), withStatus("b", 1, 1))
	s := watching(t, api, clitest.NewEnv(), "--no-headers", "--problems")
	api.Put(clitest.FailedJob("a"))
	s.WaitLines(1)
	api.Remove(withStatus("b", 1, 1))
	api.Put(withStatus("a", 1, 1))
	s.WaitLines(2)
	s.Interrupt()
	s.End()
	if out := strings.Join(strings.Fields(s.Out.String()), " "); !strings.HasPrefix(out, "a Failed") || !strings.Contains(out, "a Running") || strings.Contains(out, "b ") {
		t.Errorf("%s", s.Out.String())
	}
}

// Requirements: CLI-06. WHY says why pods of a running Job wait, at the cost of one page of warnings.
func TestListShowsWhyPodsOfARunningJobCannotBeCreated(t *testing.T) {
	job := withStatus("half", 2, 2)
	spec := job.Object["spec"].(map[string]any)
	spec["parallelism"], spec["completions"] = int64(5), int64(5)
	o := clitest.NewObjects(t, job, withStatus("healthy", 1, 1))
	o.Events = append(o.Events, refusal(job, `Error creating: pods "half-x" is forbidden: exceeded quota: q, requested: pods=1, used: pods=2, limited: pods=2`))
	got := program.Run(t, o.API, "status", "--problems")
	if got.Code != 0 || !strings.Contains(got.Out, " Running ") || !strings.Contains(got.Out, " 3 pods wait: quota q exhausted ") || strings.Contains(got.Out, "healthy") {
		t.Errorf("exit %d, %s%s", got.Code, got.Out, got.ErrOut)
	}
	if pods, events := o.Queries("/pods"), o.Queries("/events"); len(pods) > 0 || len(events) != 1 {
		t.Errorf("requests %q, %q", pods, events)
	}
	if got := program.Run(t, o.API, "status", "half", "-o", "jsonpath={.refused.kind}"); got.Out != "CreationRefused" {
		t.Errorf("%q %q", got.Out, got.ErrOut)
	}
}
