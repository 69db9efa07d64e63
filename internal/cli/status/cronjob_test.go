package status

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"
	"time"

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

// withNightly returns an API with CronJob nightly, whose Job nightly-1 has failed, and with other Jobs.
func withNightly(t *testing.T) *clitest.Objects {
	t.Helper()
	o := clitest.NewExplained(t, ownedBy(clitest.ExplainedJob("ns1", "nightly-1"), "CronJob", "nightly"), ownedBy(clitest.SimpleJob("ns1", "other-1", 1), "CronJob", "other"))
	o.API.CronJobs = []*batchv1.CronJob{{
		ObjectMeta: metav1.ObjectMeta{Namespace: "ns1", Name: "nightly", CreationTimestamp: metav1.NewTime(clitest.Now().Add(-48 * time.Hour))},
		Spec:       batchv1.CronJobSpec{Schedule: "0 3 * * *", TimeZone: ptr.To("Etc/UTC"), ConcurrencyPolicy: batchv1.ForbidConcurrent},
		Status:     batchv1.CronJobStatus{LastScheduleTime: ptr.To(metav1.NewTime(clitest.Now().Add(-time.Hour)))},
	}}
	o.Mu.Lock()
	defer o.Mu.Unlock()
	for reason, message := range map[string]string{"SuccessfulCreate": "Created job nightly-0", "SawCompletedJob": "Saw completed job: nightly-0, condition: Complete"} {
		o.Events = append(o.Events, &corev1.Event{
			InvolvedObject: corev1.ObjectReference{Kind: "CronJob", Name: "nightly"}, Type: "Normal", Reason: reason, Message: message,
			LastTimestamp: metav1.NewTime(clitest.Now().Add(-24 * time.Hour)),
		})
	}
	return o
}

// A CronJob is shown with the runs that its Jobs and events show, and with the causes that lists have, for as many requests
// as a list of Jobs, and two.
// Requirements: CRJ-08, CRJ-10, CLI-09.
func TestStatusOfACronJob(t *testing.T) {
	o := withNightly(t)
	got := program.Run(t, o.API, "status", "cronjob/nightly")
	for _, want := range []string{
		"Scheduled  cronjob ns1/nightly\n", "Schedule    every day at 03:00 in Etc/UTC (0 3 * * *)\n", "Next start  ", " 03:00 Etc/UTC (in ",
		"1 succeeded, 1 failed\n", "  nightly-1  ", "rule Corrupt: exit 42", "  nightly-0  ", "succeeded, deleted since\n",
	} {
		if !strings.Contains(got.Out, want) {
			t.Errorf("%q is missing: exit %d, %s\n%s", want, got.Code, got.ErrOut, got.Out)
		}
	}
	if strings.Contains(got.Out, "other-1") || got.Code != 0 || got.ErrOut != "" {
		t.Errorf("exit %d, %s\n%s", got.Code, got.ErrOut, got.Out)
	}
	asked := map[string]int{"/jobs": 1, "/cronjobs/nightly": 1, "/events": 2, "/pods": 1}
	for path, want := range asked {
		if queries := o.Queries(path); len(queries) != want {
			t.Errorf("%s: %q", path, queries)
		}
	}
}

// JSON has the CronJob, and the report on it.
// Requirements: CRJ-08.
func TestStatusOfACronJobAsADocument(t *testing.T) {
	o := withNightly(t)
	got := program.Run(t, o.API, "status", "cj/nightly", "-o", "json")
	var printed struct {
		batchv1.CronJob
		Explanation explain.CronJobReport
	}
	if err := json.Unmarshal([]byte(got.Out), &printed); err != nil {
		t.Fatalf("%v: %s%s", err, got.Out, got.ErrOut)
	}
	report := &printed.Explanation
	if printed.Kind != "CronJob" || printed.APIVersion != "batch/v1" || printed.Spec.Schedule != "0 3 * * *" || report.ScheduleText != "every day at 03:00" || report.Next == nil || len(report.Runs) != 2 {
		t.Errorf("%+v", printed)
	}
	for args, want := range map[string]string{
		"-o name": "cronjob.batch/nightly\n", "-o yaml": "kind: CronJob\n", "-o jsonpath={.explanation.runs[0].state}": "Failed",
	} {
		if got := program.Run(t, o.API, append([]string{"status", "cronjob/nightly"}, strings.Fields(args)...)...); got.Code != 0 || !strings.Contains(got.Out, want) {
			t.Errorf("%s: exit %d, %s%s", args, got.Code, got.Out, got.ErrOut)
		}
	}
}

// A CronJob that does not exist is an error; one that may not be read is shown by its Jobs.
// Requirements: CRJ-05, CRJ-08.
func TestStatusOfACronJobThatIsNotThere(t *testing.T) {
	o := withNightly(t)
	got := program.Run(t, o.API, "status", "cronjob/nightli")
	if got.Code != cmdutil.ExitError || !strings.Contains(got.ErrOut, `cronjob "nightli" not found in namespace "ns1"`) {
		t.Errorf("exit %d, %s%s", got.Code, got.Out, got.ErrOut)
	}
	o.RefusePath("/cronjobs/nightly", http.StatusForbidden, "Forbidden")
	got = program.Run(t, o.API, "status", "cronjob/nightly")
	if got.Code != 0 || !strings.Contains(got.Out, "CronJob nightly could not be read.") || !strings.Contains(got.Out, "kubectl auth can-i get cronjobs") {
		t.Errorf("exit %d, %s%s", got.Code, got.Out, got.ErrOut)
	}
}

// A CronJob is named alone, and has no rows.
// Requirements: CRJ-08.
func TestCronJobIsShownAlone(t *testing.T) {
	for args, want := range map[string]string{
		"cronjob/a cronjob/b": "name one CronJob", "train cronjob/a": "name one CronJob", "cronjob/a -w": "omit flags of the table", "cronjob/a -o wide": "omit flags of the table",
		"cronjob/a -o custom-columns=A:.kind": "omit flags", "cronjob/a --problems": "omit flags", "cronjob/": "names no CronJob", "cronjob/a -A": "across all namespaces",
		"jobset/a": "kubectl batchjob why jobset/a", "--by-owner -w": "--by-owner is for the table", "--by-owner -o json": "--by-owner is for the table",
	} {
		got := program.Run(t, nil, append([]string{"status"}, strings.Fields(args)...)...)
		if got.Code != cmdutil.ExitUsage || !strings.Contains(got.ErrOut, want) {
			t.Errorf("%s: exit %d, %s", args, got.Code, got.ErrOut)
		}
	}
}

// --by-owner puts the Jobs of an owner below a row that counts them, for no further request.
// Requirements: CRJ-14.
func TestJobsBelowTheirOwner(t *testing.T) {
	o := clitest.NewExplained(t,
		ownedBy(clitest.ExplainedJob("ns1", "nightly-1"), "CronJob", "nightly"), clitest.SimpleJob("ns1", "nightly-1-copy", 1),
		ownedBy(clitest.SimpleJob("ns1", "nightly-2", 1), "CronJob", "nightly"), ownedBy(clitest.SimpleJob("ns1", "step", 1), "Workflow", "w"))
	got := program.Run(t, o.API, "status", "--by-owner")
	var names []string
	for line := range strings.Lines(got.Out) {
		name, _, _ := strings.Cut(strings.TrimLeft(line, " "), " ")
		names = append(names, line[:len(line)-len(strings.TrimLeft(line, " "))]+strings.TrimSpace(name))
	}
	const want = "NAME|cronjob/nightly|  nightly-1|  nightly-2|nightly-1-copy|workflow/w|  step|train"
	if strings.Join(names, "|") != want || !strings.Contains(got.Out, "2 Jobs: 1 Failed, 1 Running\n") || got.Code != 0 {
		t.Errorf("exit %d, %s\n%s", got.Code, got.ErrOut, got.Out)
	}
	if asked := len(o.Queries("")); asked != 3 {
		t.Errorf("%q", o.Queries(""))
	}
	if got := program.Run(t, o.API, "status", "--by-owner", "-A", "-o", "wide"); !strings.Contains(got.Out, "ns1        cronjob/nightly") {
		t.Errorf("exit %d, %s\n%s", got.Code, got.ErrOut, got.Out)
	}
}
