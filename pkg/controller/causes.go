package controller

import (
	"maps"
	"slices"

	corev1 "k8s.io/api/core/v1"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/cause"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/reconcile"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/reconcile/rulename"
)

// eventPodFailed is the reason of the one event that a cause of failures has, and that
// outlives the pods.
const eventPodFailed = "PodFailed"

// otherCauses stands for the causes that are too many to be told one by one.
const otherCauses = "Pods failed for more causes than have an event of their own; this one counts the others."

func causeMessage(cause, example string) string { return cause + ". First in pod " + example }

// sayCauses counts failed pods by the cause of their failure.
func (s *jobSync) sayCauses(failed []reconcile.FailedPod, names rulename.Names) {
	if s.config.Recorder == nil {
		return
	}
	pods := map[string][]string{}
	for _, f := range failed {
		text := cause.Of(f.Pod, f.Match).Text(names)
		pods[text] = append(pods[text], f.Pod.Name)
	}
	for _, text := range slices.Sorted(maps.Keys(pods)) {
		example, n := slices.Min(pods[text]), len(pods[text])
		if a, is := s.config.Recorder.(aggregator); is {
			a.failures(s.job, text, example, n)
		} else {
			s.say(event{corev1.EventTypeWarning, eventPodFailed, causeMessage(text, example)})
		}
	}
}
