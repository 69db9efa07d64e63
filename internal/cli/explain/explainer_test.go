package explain

import (
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/utils/ptr"

	"github.com/batchjob-dev/kubectl-batchjob/internal/cli/shared/cmdutil"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain"
	"github.com/batchjob-dev/kubectl-batchjob/test/kit/clitest"
)

// ownedBy sets the Job's controller.
func ownedBy(job *unstructured.Unstructured, kind, name string) *unstructured.Unstructured {
	job.Object["metadata"].(map[string]any)["ownerReferences"] = []any{map[string]any{
		"apiVersion": "batch/v1", "kind": kind, "name": name, "uid": "u", "controller": true,
	}}
	return job
}

func jobsIn(t *testing.T, out string) (names []string, list explain.ReportList) {
	t.Helper()
	if err := json.Unmarshal([]byte(out), &list); err != nil {
		t.Fatalf("%v in %q", err, out)
	}
	if list.Kind != "JobExplanationList" || list.APIVersion != "batchjob.dev/v1alpha1" {
		t.Errorf("%s %s", list.APIVersion, list.Kind)
	}
	for i := range list.Items {
		names = append(names, list.Items[i].Job.Namespace+"/"+list.Items[i].Job.Name)
	}
	return names, list
}

// CLI-04: Jobs are chosen by names, labels or owners, in one namespace or in all.
func TestJobsAreChosenByNameLabelOrOwner(t *testing.T) {
	inSet := clitest.ExplainedJob("ns1", "set-worker")
	inSet.SetLabels(map[string]string{"app": "set", "jobset.sigs.k8s.io/jobset-name": "set"})
	o := clitest.NewExplained(t, ownedBy(clitest.ExplainedJob("ns1", "nightly-1"), "CronJob", "nightly"), ownedBy(clitest.ExplainedJob("ns1", "nightly-2"), "CronJob", "nightly"), inSet, clitest.ExplainedJob("ns2", "other"))
	for args, want := range map[string]string{
		"train set-worker":                 "ns1/train ns1/set-worker",
		"train train job/train set-worker": "ns1/train ns1/set-worker",
		"cronjob/nightly":                  "ns1/nightly-1 ns1/nightly-2",
		"jobset/set cj/nightly":            "ns1/set-worker ns1/nightly-1 ns1/nightly-2",
		"train cronjob/nightly":            "ns1/train ns1/nightly-1 ns1/nightly-2",
		"nightly-1 cronjob/nightly":        "ns1/nightly-1 ns1/nightly-2",
		"-l app=train":                     "ns1/train",
		"-l app":                           "ns1/nightly-1 ns1/nightly-2 ns1/set-worker ns1/train",
		"-A -l app!=train":                 "ns1/nightly-1 ns1/nightly-2 ns1/set-worker ns2/other",
		"-n ns2 -l app=other":              "ns2/other",
		"-l app=nobody":                    "",
	} {
		got := program.Run(t, o.API, append([]string{"why", "-o", "json"}, strings.Fields(args)...)...)
		names, _ := jobsIn(t, got.Out)
		if got.Code != 0 || strings.Join(names, " ") != want {
			t.Errorf("%s: exit %d, %q, want %q; %s", args, got.Code, names, want, got.ErrOut)
		}
	}
	text := program.Run(t, o.API, "why", "cronjob/nightly")
	if text.Code != 0 || !strings.Contains(text.Out, "2 Jobs failed: ") || !strings.Contains(text.Out, "nightly-2") {
		t.Errorf("exit %d, %s", text.Code, text.Out)
	}
}

// cronJob returns a CronJob that starts Jobs at 03:00 UTC.
func cronJob(name string, change func(*batchv1.CronJob)) *batchv1.CronJob {
	cj := &batchv1.CronJob{ObjectMeta: metav1.ObjectMeta{Namespace: "ns1", Name: name}, Spec: batchv1.CronJobSpec{Schedule: "0 3 * * *", TimeZone: ptr.To("Etc/UTC")}}
	if change != nil {
		change(cj)
	}
	return cj
}

// A CronJob without Jobs is explained, which is not an error; the explanation does not guess.
// Requirements: CRJ-01, CRJ-03, CLI-06.
func TestCronJobWithoutJobs(t *testing.T) {
	o := clitest.NewExplained(t)
	o.API.CronJobs = []*batchv1.CronJob{cronJob("nightly", nil), cronJob("held", func(cj *batchv1.CronJob) { cj.Spec.Suspend = ptr.To(true) })}
	for name, wantText := range map[string]string{
		"nightly": "CronJob nightly has not started a Job yet; the next start is at", "held": "CronJob held is suspended (spec.suspend), so it starts no Jobs",
	} {
		got := program.Run(t, o.API, "why", "cronjob/"+name)
		if got.Code != 0 || !strings.HasPrefix(got.Out, wantText) || strings.Contains(got.Out+got.ErrOut, "cleaned up") {
			t.Errorf("%s: exit %d, %q, %q", name, got.Code, got.Out, got.ErrOut)
		}
		_, list := jobsIn(t, program.Run(t, o.API, "why", "cronjob/"+name, "-o", "json").Out)
		if len(list.CronJobs) != 1 || !strings.HasPrefix(list.CronJobs[0].Sentence, wantText) || len(list.Items) > 0 {
			t.Errorf("%s: %+v", name, list)
		}
	}
}

// For a CronJob with Jobs, the reason why it starts no more comes first, or else the outcome of the last one.
// Requirements: CRJ-02, CRJ-03.
func TestCronJobComesBeforeItsJobs(t *testing.T) {
	o := clitest.NewExplained(t, ownedBy(clitest.ExplainedJob("ns1", "nightly-1"), "CronJob", "nightly"))
	o.API.CronJobs = []*batchv1.CronJob{cronJob("nightly", nil)}
	o.Mu.Lock()
	o.Events = append(o.Events, &corev1.Event{
		InvolvedObject: corev1.ObjectReference{Kind: "CronJob", Name: "nightly"}, Type: "Warning", Reason: "FailedCreate", LastTimestamp: metav1.NewTime(clitest.Now()),
		Message: `Error creating job: jobs.batch "nightly-2" is forbidden: exceeded quota: jobs, requested: count/jobs.batch=1, used: count/jobs.batch=1, limited: count/jobs.batch=1`,
	})
	o.Mu.Unlock()
	got := program.Run(t, o.API, "why", "cronjob/nightly")
	first, rest, _ := strings.Cut(got.Out, "\n\n")
	if got.Code != 0 || !strings.HasPrefix(first, "CronJob nightly cannot create its Jobs: ResourceQuota jobs is exhausted") ||
		!strings.Contains(rest, "kubectl describe resourcequota jobs") || !strings.Contains(rest, "1 Job: 1 Failed") {
		t.Errorf("exit %d, %s%s", got.Code, got.Out, got.ErrOut)
	}
	o.Mu.Lock()
	o.Events = nil
	o.Mu.Unlock()
	if got := program.Run(t, o.API, "why", "cronjob/nightly"); got.Code != 0 || !strings.HasPrefix(got.Out, "CronJob nightly has not started a Job on its schedule yet") {
		t.Errorf("exit %d, %s%s", got.Code, got.Out, got.ErrOut)
	}
}

// Without permission to read a CronJob or its events, the rest is explained, with a notice.
// Requirements: CRJ-05, CLI-08.
func TestCronJobThatMayNotBeRead(t *testing.T) {
	o := clitest.NewExplained(t, ownedBy(clitest.ExplainedJob("ns1", "nightly-1"), "CronJob", "nightly"))
	o.API.CronJobs = []*batchv1.CronJob{cronJob("held", func(cj *batchv1.CronJob) { cj.Spec.Suspend = ptr.To(true) })}
	o.RefusePath("/cronjobs/nightly", 403, "Forbidden")
	got := program.Run(t, o.API, "why", "cronjob/nightly")
	if got.Code != 0 || !strings.Contains(got.Out, "kubectl auth can-i get cronjobs") || !strings.Contains(got.Out, "1 Job: 1 Failed") {
		t.Errorf("exit %d, %s%s", got.Code, got.Out, got.ErrOut)
	}
	o.RefusePath("/cronjobs/none", 403, "Forbidden")
	got = program.Run(t, o.API, "why", "cronjob/none")
	if want := `CronJob "none" has no Jobs in namespace "ns1"; why, and whether it exists, could not be read`; got.Code != cmdutil.ExitError || !strings.Contains(got.ErrOut, want) || got.Out != "" {
		t.Errorf("exit %d, %q", got.Code, got.ErrOut)
	}
	o.RefusePath("/events", 403, "Forbidden")
	got = program.Run(t, o.API, "why", "cronjob/held")
	if got.Code != 0 || !strings.HasPrefix(got.Out, "CronJob held is suspended") || !strings.Contains(got.Out, "kubectl auth can-i list events") {
		t.Errorf("exit %d, %s%s", got.Code, got.Out, got.ErrOut)
	}
}

// Jobs that do not exist are reported after the others; finding no Jobs at all is not an error.
// Requirements: CLI-04
func TestMissingJobsAreReportedLast(t *testing.T) {
	o := clitest.NewExplained(t, clitest.ExplainedJob("ns1", "second"))
	got := program.Run(t, o.API, "why", "absent", "train", "second", "cronjob/absent")
	if got.Code != cmdutil.ExitError || !strings.Contains(got.Out, "train") || !strings.Contains(got.Out, "second") || strings.Count(got.ErrOut, "\n") != 2 ||
		!strings.Contains(got.ErrOut, `job "absent" not found in namespace "ns1"`) || !strings.Contains(got.ErrOut, `cronjob "absent" not found in namespace "ns1"; list what exists with: kubectl get cronjobs.batch -n ns1`) {
		t.Errorf("exit %d, stderr %q, stdout %q", got.Code, got.ErrOut, got.Out)
	}
	for _, args := range []string{"absent", "absent -o json", "jobset/absent", "train -n ns2"} {
		got := program.Run(t, o.API, append([]string{"why"}, strings.Fields(args)...)...)
		if got.Code != cmdutil.ExitError || got.Out != "" || strings.Count(got.ErrOut, "\n") != 1 || cmdutil.KindOf(got.Err) != cmdutil.KindNotFound {
			t.Errorf("%s: exit %d, %q, %q", args, got.Code, got.Out, got.ErrOut)
		}
	}
	for args, want := range map[string]string{"-l app=none": "No jobs found in ns1 namespace with labels app=none.\n", "-A -l app=none": "No jobs found with labels app=none.\n"} {
		got := program.Run(t, o.API, append([]string{"why"}, strings.Fields(args)...)...)
		if got.Code != 0 || got.Out != "" || got.ErrOut != want {
			t.Errorf("%s: exit %d, %q, %q", args, got.Code, got.Out, got.ErrOut)
		}
	}
	o.RefusePath("/jobs", 403, "Forbidden")
	got = program.Run(t, o.API, "why", "-l", "app=train")
	if got.Code != cmdutil.ExitError || got.Out != "" || !strings.Contains(got.ErrOut, "you may not list jobs") {
		t.Errorf("exit %d, %q, %q", got.Code, got.Out, got.ErrOut)
	}
}

// Ctrl-C ends the command immediately, with exit code 130 and no partial output.
// Requirements: CLI-04
func TestInterruptLeavesNoHalfAnswer(t *testing.T) {
	for _, args := range [][]string{{"why", "train"}, {"why", "-l", "app"}, {"status", "train"}} {
		o := clitest.NewExplained(t)
		arrived, release := make(chan struct{}, 10), make(chan struct{})
		o.API.SetRefuse(func(r *http.Request) *clitest.Status {
			if strings.HasSuffix(r.URL.Path, "/pods") {
				arrived <- struct{}{}
				select {
				case <-release:
				case <-r.Context().Done():
				}
			}
			return nil
		})
		s := program.Start(t, o.API, clitest.NewEnv(), args...)
		<-arrived
		s.Interrupt()
		if code := s.End(); code != cmdutil.ExitInterrupted || s.Out.String() != "" || s.ErrOut.String() != "" {
			t.Errorf("%v: exit %d, %q, %q", args, code, s.Out.String(), s.ErrOut.String())
		}
		close(release)
	}
}

// If the server dies after it has returned the Job, the explanation uses the Job alone.
// Requirements: CLI-06
func TestJobIsExplainedWithoutTheRest(t *testing.T) {
	o := clitest.NewExplained(t)
	o.API.SetRefuse(func(r *http.Request) *clitest.Status {
		if !strings.Contains(r.URL.Path, "/jobs") {
			_ = o.API.Server.Listener.Close()
			panic(http.ErrAbortHandler)
		}
		return nil
	})
	got := program.Run(t, o.API, "why", "train")
	if got.Code != 0 || !strings.Contains(got.Out, `rule 0 "Corrupt"`) || !strings.Contains(got.Out, "Pods could not be read") || strings.Contains(got.Out, "is gone") {
		t.Errorf("exit %d, stderr %q, stdout:\n%s", got.Code, got.ErrOut, got.Out)
	}
	if strings.Count(got.Out, "could not be read: Get") > 2 {
		t.Errorf("the same is said of everything:\n%s", got.Out)
	}
	if got := program.Run(t, o.API, "why", "train"); got.Code != cmdutil.ExitError || got.Out != "" || strings.Count(got.ErrOut, "\n") != 1 || !strings.Contains(got.ErrOut, "cannot reach the API server") {
		t.Errorf("without a server: exit %d, %q", got.Code, got.ErrOut)
	}
}

// Pods are listed in pages, together with pods of other Jobs; a continue token that expires meanwhile changes
// nothing.
// Requirements: CLI-04
func TestPodsAreReadInPages(t *testing.T) {
	for _, expires := range []bool{false, true} {
		o := clitest.NewExplained(t)
		train := clitest.ExplainedJob("ns1", "train")
		for i := range 599 {
			o.Pods.Put(clitest.EndedPod(train, fmt.Sprintf("train-%03d", i), 42, ""))
		}
		stranger := clitest.EndedPod(clitest.ExplainedJob("ns1", "other"), "stranger", 9, "")
		stranger.Labels = map[string]string{"job": "train"}
		o.Pods.Put(stranger)
		if expires {
			o.API.SetRefuse(func(r *http.Request) *clitest.Status {
				if r.URL.Query().Get("continue") != "" {
					return &clitest.Status{Code: 410, Reason: "Expired", Message: "The provided continue parameter is too old"}
				}
				return nil
			})
		}
		got := program.Run(t, o.API, "why", "train", "-o", "json", "--log-lines=0")
		var r explain.Report
		if err := json.Unmarshal([]byte(got.Out), &r); err != nil {
			t.Fatal(err)
		}
		if r.Counts.Pods == nil || *r.Counts.Pods != 600 || len(r.Causes) != 1 || r.Causes[0].Count != 600 || len(r.Gaps) != 0 {
			t.Errorf("expires %v: %+v, %d causes, %+v", expires, r.Counts, len(r.Causes), r.Gaps)
		}
		if len(r.Pods) != 600 || r.PodsOmitted != 0 { // JSON is for programs, so it has all pods.
			t.Errorf("%d pods are listed, %d are not", len(r.Pods), r.PodsOmitted)
		}
	}
}

// Events of Job train-2 are not shown for Job train.
// Requirements: CLI-04
func TestEventsOfOtherJobsAreLeftOut(t *testing.T) {
	second := clitest.ExplainedJob("ns1", "train-2")
	o := clitest.NewExplained(t, second)
	o.Pods.Put(clitest.EndedPod(second, "train-2-xk2p9", 1, ""))
	foreign := o.Events[0].DeepCopy()
	foreign.Name, foreign.Reason, foreign.InvolvedObject = "e2", "ForeignTrouble", corev1.ObjectReference{Kind: "Pod", Name: "train-2-xk2p9", UID: "uid-train-2-xk2p9"}
	o.Events = append(o.Events, foreign)
	if got := program.Run(t, o.API, "why", "train", "--full"); strings.Contains(got.Out, "ForeignTrouble") {
		t.Errorf("%s", got.Out)
	}
	if got := program.Run(t, o.API, "why", "train-2", "--full"); !strings.Contains(got.Out, "ForeignTrouble") {
		t.Errorf("%s", got.Out)
	}
}

// Jobs are read four at a time, and printed in order.
// Requirements: CLI-04
func TestExplainKeepsOrder(t *testing.T) {
	var jobs []*unstructured.Unstructured
	var want []string
	for i := range 30 {
		jobs = append(jobs, clitest.ExplainedJob("ns1", fmt.Sprintf("job-%02d", i)))
		want = append(want, fmt.Sprintf("ns1/job-%02d", i))
	}
	slices.Reverse(jobs)
	o := clitest.NewObjects(t, jobs...)
	names, list := jobsIn(t, program.Run(t, o.API, "why", "-l", "app", "-o", "json").Out)
	if !slices.Equal(names, want) || len(list.Causes) != 1 || list.Causes[0].Count != 30 {
		t.Errorf("%q, %+v", names, list.Causes)
	}
}
