package logs

import (
	"cmp"
	"maps"
	"slices"

	"k8s.io/apimachinery/pkg/types"
)

// podSet holds the pods that exist, and the attempts of all pods ever seen. A list may be older than an event that the watch
// delivered before, so a pod that has ended stays as it is, and a removed pod does not come back.
type podSet struct {
	pods     map[types.UID]*Pod
	gone     map[types.UID]bool
	attempts map[types.UID]int32
	perIndex map[jobIndex]int32 // how many pods were seen
}

type jobIndex struct {
	job   types.UID
	index int32
}

func newPodSet() *podSet {
	return &podSet{pods: map[types.UID]*Pod{}, gone: map[types.UID]bool{}, attempts: map[types.UID]int32{}, perIndex: map[jobIndex]int32{}}
}

// replace replaces the pods of a Job by a complete list.
func (s *podSet) replace(job types.UID, pods []*Pod) {
	listed := map[types.UID]bool{}
	for _, pod := range pods {
		listed[pod.UID] = true
	}
	maps.DeleteFunc(s.pods, func(uid types.UID, pod *Pod) bool { return pod.Job == job && !listed[uid] })
	slices.SortFunc(pods, func(x, y *Pod) int { return cmp.Or(x.Created.Compare(y.Created), cmp.Compare(x.Name, y.Name)) })
	for _, pod := range pods {
		if known := s.pods[pod.UID]; !s.gone[pod.UID] && (known == nil || !known.IsTerminal() || pod.IsTerminal()) {
			s.put(pod)
		}
	}
}

// put adds or updates a pod. Without an annotation, the attempt of a pod is its position in the order of creation within its
// index, as far as seen.
func (s *podSet) put(pod *Pod) {
	if _, known := s.attempts[pod.UID]; !known {
		of := jobIndex{job: pod.Job, index: pod.Index}
		s.perIndex[of]++
		s.attempts[pod.UID] = s.perIndex[of]
	}
	pod.Attempt = cmp.Or(pod.Attempt, s.attempts[pod.UID])
	s.pods[pod.UID] = pod
	delete(s.gone, pod.UID) // Its labels may have been removed for a while.
}

// remove removes the pod with this UID.
func (s *podSet) remove(uid types.UID) {
	delete(s.pods, uid)
	s.gone[uid] = true
}

// list returns the selected logs, in the order of reading.
func (s *podSet) list(selection Selection) Listing {
	listing := Listing{Pods: slices.SortedFunc(maps.Values(s.pods), comparePods)}
	for _, pod := range listing.Pods {
		sources, unstarted := selection.logsOf(pod)
		listing.Sources = append(listing.Sources, sources...)
		listing.Unstarted = append(listing.Unstarted, unstarted...)
	}
	return listing
}

// hasEnded reports whether all pods with these names have ended.
func (s *podSet) hasEnded(names []string) bool {
	for _, pod := range s.pods {
		if slices.Contains(names, pod.Name) && !pod.IsTerminal() {
			return false
		}
	}
	return true
}

// comparePods defines the order of reading: failed pods first, by index, and within an index the newest attempt first,
// because it decided; then the other pods, by index and attempt. Pods of several Jobs are sorted by the Job's name.
func comparePods(a, b *Pod) int {
	failed := a.hasFailed()
	if failed != b.hasFailed() {
		if failed {
			return -1
		}
		return 1
	}
	attempts := cmp.Or(cmp.Compare(a.Attempt, b.Attempt), a.Created.Compare(b.Created))
	if failed {
		attempts = -attempts
	}
	return cmp.Or(cmp.Compare(a.JobName, b.JobName), cmp.Compare(a.Index, b.Index), attempts, cmp.Compare(a.Name, b.Name))
}
