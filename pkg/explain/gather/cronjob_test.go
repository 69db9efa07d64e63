package gather_test

import (
	"net/http"
	"strings"
	"testing"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain/gather"
)

// A CronJob and its events take two requests. Events about a deleted CronJob of the same name are left out.
// Requirements: CRJ-01, CLI-09.
func TestCronJobIsReadWithItsEvents(t *testing.T) {
	s := &server{cronJobs: []batchv1.CronJob{{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: "nightly", UID: "u1"}}}}
	for uid, reason := range map[types.UID]string{"u1": "MissSchedule", "u0": "FailedCreate"} {
		about := corev1.ObjectReference{Kind: "CronJob", Name: "nightly", UID: uid}
		s.events = append(s.events, corev1.Event{InvolvedObject: about, Reason: reason, LastTimestamp: ago(time.Minute)})
	}
	in, err := gather.CronJob(t.Context(), s.client(t), "ns", "nightly", nil, noon)
	if err != nil || in.CronJob == nil || len(in.Events) != 1 || in.Events[0].Reason != "MissSchedule" || len(in.Gaps) > 0 || len(s.asked) != 2 {
		t.Errorf("%+v, %v, %q", in, err, s.asked)
	}
	if in, err := gather.CronJob(t.Context(), s.client(t), "ns", "other", nil, noon); err != nil || in.CronJob != nil || len(in.Gaps) > 0 {
		t.Errorf("one that does not exist: %+v, %v", in, err)
	}
}

// A missing permission is a gap with the command that checks it; any other failure to read the CronJob is an error.
// Requirements: CRJ-05, CLI-08.
func TestCronJobThatMayNotBeRead(t *testing.T) {
	for path, want := range map[string]string{"/cronjobs/": "kubectl auth can-i get cronjobs -n ns", "/events": "kubectl auth can-i list events -n ns"} {
		s := &server{cronJobs: []batchv1.CronJob{{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: "nightly", UID: "u1"}}}}
		s.refuse = func(r *http.Request) (int, metav1.StatusReason) {
			if strings.Contains(r.URL.Path, path) {
				return http.StatusForbidden, metav1.StatusReasonForbidden
			}
			return 0, ""
		}
		in, err := gather.CronJob(t.Context(), s.client(t), "ns", "nightly", nil, noon)
		if err != nil || len(in.Gaps) != 1 || in.Gaps[0].Command != want {
			t.Errorf("%s: %+v, %v", path, in.Gaps, err)
		}
	}
	s := &server{refuse: func(*http.Request) (int, metav1.StatusReason) {
		return http.StatusBadRequest, metav1.StatusReasonBadRequest
	}}
	if _, err := gather.CronJob(t.Context(), s.client(t), "ns", "nightly", nil, noon); err == nil {
		t.Error("no error")
	}
}
