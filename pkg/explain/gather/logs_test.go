package gather_test

import (
	"context"
	"encoding/json"
	"testing"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain/gather"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain/input"
	"github.com/batchjob-dev/kubectl-batchjob/test/kit/assert"
)

// A log that a simulated node does not have is no gap; a real node whose kubelet cannot be reached is one.
// Requirements: CLI-79
func TestSimulatedNodesHaveNoLogs(t *testing.T) {
	unreachable := &apierrors.StatusError{ErrStatus: metav1.Status{Code: 500, Message: `Get "https://10.0.0.1:10250/containerLogs/ns/train-a/main": dial tcp`}}
	for annotation, isGap := range map[string]bool{"kwok.x-k8s.io/node": false, "other": true} {
		node, err := json.Marshal(&corev1.Node{
			TypeMeta:   metav1.TypeMeta{APIVersion: "v1", Kind: "Node"},
			ObjectMeta: metav1.ObjectMeta{Name: "node-1", Annotations: map[string]string{annotation: "fake"}},
		})
		assert.NoError(t, err)
		client := answering(t, "application/json", node)
		pod := &input.Pod{Node: "node-1"}
		pod.Name = "train-a"
		gap := gather.LogGap(context.Background(), client, "ns", []*input.Pod{pod}, input.LogTarget{Pod: "train-a"}, unreachable)
		assert.Equalf(t, (gap != nil), isGap, "%s: %v", annotation, gap)
	}
}

// The log of a Job without trouble costs one request, no gap if it cannot be read, and nothing for several Jobs. docs/internals/adr/0033
// has these numbers, which do not include the request for the Job.
// Requirements: FCT-13
func TestLogOfAContainerThatHasNotFailedCostsOneRequest(t *testing.T) {
	complete := []batchv1.JobCondition{{Type: batchv1.JobComplete, Status: corev1.ConditionTrue}}
	for name, tc := range map[string]struct {
		phase     corev1.PodPhase
		done      []batchv1.JobCondition
		unread    bool
		logs, all int
	}{
		"runs":                {corev1.PodRunning, nil, false, 1, 4},
		"runs, without a log": {corev1.PodRunning, nil, true, 1, 4},
		"is complete":         {corev1.PodSucceeded, complete, false, 1, 5},
		"is being prepared":   {corev1.PodPending, nil, false, 1, 4},
	} {
		job := train()
		job.Spec.ManagedBy, job.Status.Conditions = nil, tc.done
		job.Spec.Template.Spec.Containers = []corev1.Container{{Name: "main", Command: []string{"x"}}}
		s := &server{pods: []corev1.Pod{pod("train-a", job.UID, func(p *corev1.Pod) { p.Status.Phase = tc.phase })}, logs: map[string]string{"train-a": "2026-07-01T09:00:00.5Z row 1\n"}}
		if tc.phase == corev1.PodPending {
			began := metav1.NewTime(noon.Add(-time.Hour))
			s.pods[0].CreationTimestamp = began
			s.pods[0].Spec.InitContainers = []corev1.Container{{Name: "prepare"}}
			s.pods[0].Status.InitContainerStatuses = []corev1.ContainerStatus{{Name: "prepare", State: corev1.ContainerState{Running: &corev1.ContainerStateRunning{StartedAt: began}}}}
			s.pods[0].Status.ContainerStatuses = []corev1.ContainerStatus{{Name: "main"}}
		}
		if tc.unread {
			s.logs = nil
		}
		in := read(t, s, job)
		assert.Equalf(t, s.requests("/log?"), tc.logs, "%s: logs", name)
		assert.Equalf(t, s.requests("/"), tc.all, "%s: requests", name)
		assert.Equalf(t, len(in.Gaps), 0, "%s: gaps %v", name, in.Gaps)
		if !tc.unread && (in.Logs[0].Lines[0] != "row 1" || in.Logs[0].LastAt.Hour() != 9) {
			t.Errorf("%s: %v", name, in.Logs)
		}

		s.asked = nil
		gather.NewReader(s.client(t), gather.Options{LogLines: 10, WithoutPodEvents: true}).Read(t.Context(), job, nil, noon)
		assert.Equalf(t, s.requests("/log?"), 0, "%s: one of several Jobs", name)
	}
}
