package eventtext

import (
	"reflect"
	"testing"
	"time"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain"
)

// Refusals of a CronJob's Jobs are parsed like refusals of a Job's pods.
// Requirements: CRJ-01.
func TestRefusedJobsAreReadAsPods(t *testing.T) {
	for message, want := range map[string]Refusal{
		`Error creating job: jobs.batch "a-1" is forbidden: exceeded quota: q, requested: count/jobs.batch=1`: {Reason: explain.RefusalQuota, By: "q", Message: "requested: count/jobs.batch=1"},
		`Error creating job: jobs.batch is forbidden: User "x" cannot create resource "jobs"`:                 {Reason: explain.RefusalForbidden, By: "", Message: `User "x" cannot create resource "jobs"`},
		`Error creating job: Job.batch "a-1" is invalid: spec: Required value`:                                {Reason: explain.RefusalInvalid, By: "", Message: "spec: Required value"},
		`Error creating job: admission webhook "w" denied the request: no`:                                    {Reason: explain.RefusalWebhook, By: "w", Message: "no"},
		`Error creating job: etcdserver: request timed out`:                                                   {Reason: explain.RefusalOther, By: "", Message: "etcdserver: request timed out"},
		`Error creating: Pod "a" is invalid: spec: Required value`:                                            {Reason: explain.RefusalInvalid, By: "", Message: "spec: Required value"},
	} {
		if got := RefusalOf(message); !reflect.DeepEqual(got, want) {
			t.Errorf("%s: %+v", message, got)
		}
	}
}

// Times, time zones and schedules are parsed from messages of the CronJob controller only.
// Requirements: CRJ-01.
func TestMessagesOfTheCronJobController(t *testing.T) {
	start := time.Date(2026, 11, 27, 3, 0, 0, 0, time.UTC)
	for message, want := range map[string]time.Time{
		"Missed scheduled time to start a job: Fri, 27 Nov 2026 03:00:00 +0000": start,
		"Missed scheduled time to start a job: Fri, 27 Nov 2026 03:00:00 UTC":   start,
		"Missed scheduled time to start a job: soon":                            {},
		"missed": {},
	} {
		if got := MissedStart(message); !got.Equal(want) {
			t.Errorf("%s: %s", message, got)
		}
	}
	for message, want := range map[string]string{
		`invalid timeZone: "Europe/Kyiv": unknown time zone Europe/Kyiv`:     "Europe/Kyiv",
		`unparseable schedule: "0 3 * *" : expected exactly 5 fields`:        "0 3 * *",
		`invalid schedule: 0 3 31 2 * : unable to compute the next schedule`: "0 3 31 2 *",
		`something else: "x" : y`: "",
	} {
		if got := Rejected(message); !reflect.DeepEqual(got, want) {
			t.Errorf("%s: %q", message, got)
		}
	}
}

// Requirements: PND-06
func TestQuotaNamesWhatPodsLack(t *testing.T) {
	for message, want := range map[string]int{
		"Error creating: pods is forbidden: failed quota: compute: must specify limits.cpu for: main; limits.memory for: main": 2,
		`Error creating: pods "x" is forbidden: failed quota: compute: must specify limits.cpu,limits.memory,requests.cpu`:     3,
		`Error creating: pods "x" is forbidden: exceeded quota: compute, requested: pods=1, used: pods=1, limited: pods=1`:     0,
	} {
		r := RefusalOf(message)
		if len(r.Lacks) != want || want > 0 && r.Lacks[1] != "limits.memory" {
			t.Errorf("%s: %q", message, r.Lacks)
		}
	}
}
