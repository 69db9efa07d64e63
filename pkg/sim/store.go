package sim

import (
	"slices"
	"strconv"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/observe"
)

var (
	jobsResource = schema.GroupResource{Group: "batch", Resource: "jobs"}
	podsResource = schema.GroupResource{Resource: "pods"}
	jobKind      = schema.GroupKind{Group: "batch", Kind: "Job"}
	podKind      = schema.GroupKind{Kind: "Pod"}
)

// Commit is one write that the store accepted. Old is nil for a creation, New for the end of an object. Exactly one of
// the two pairs is used.
type Commit struct {
	Version int64
	Verb    string
	// By is the number of the controller process that made the write, 0 for any other client. Asked is the time of its
	// call, if it no longer waits for the response.
	By             int
	Asked          time.Time
	OldJob, NewJob *batchv1.Job
	OldPod, NewPod *corev1.Pod
}

// Ours reports whether the controller under test made the write.
func (c Commit) Ours() bool { return c.By > 0 }

// Late reports whether the caller no longer waits for the response.
func (c Commit) Late() bool { return !c.Asked.IsZero() }

func (c Commit) resource() resource { return resource(c.NewJob != nil || c.OldJob != nil) }

// isWatched reports whether the watch of its resource delivers the commit.
func (c Commit) isWatched() bool {
	pod := c.NewPod
	if pod == nil {
		pod = c.OldPod
	}
	return pod == nil || watches(pod)
}

// Store is the API server: it holds the objects of one namespace, and notifies a listener of every commit. A stored
// object is never changed: a write replaces it. The objects that methods return are copies, unless they say otherwise.
type Store struct {
	now      func() time.Time
	onCommit func(Commit)
	version  int64
	names    int
	// named counts the pods that were created with each name that was not generated.
	named map[string]int
	jobs  map[string]*batchv1.Job
	pods  map[string]*corev1.Pod
	byUID map[types.UID]*corev1.Pod
	// owned holds the pods that each Job controls, and under "" the pods without a controlling Job.
	owned map[types.UID]*podSet
	// writer is set while the controller under test writes.
	writer
	// terminating reports whether the namespace is being deleted.
	terminating bool
	// quota limits the pods that have not ended, unless it is negative.
	quota int
	// shared makes the store return objects without copying them; callers must not change them.
	shared bool
}

// writer is the controller process that makes a write: its number, the time of its call if it no longer waits for the
// response, and its knowledge when it planned the write.
type writer struct {
	by    int
	asked time.Time
	knew  Knowledge
}

// Namespace is the namespace of all objects in a Store.
const Namespace = "sim"

// NewStore returns an empty store.
func NewStore(now func() time.Time, onCommit func(Commit)) *Store {
	return &Store{
		now: now, onCommit: onCommit, quota: -1,
		jobs: map[string]*batchv1.Job{}, pods: map[string]*corev1.Pod{},
		named: map[string]int{},
		byUID: map[types.UID]*corev1.Pod{}, owned: map[types.UID]*podSet{},
	}
}

// Terminate deletes the namespace: from now on, no object can be created in it. Its objects are left to the namespace
// controller.
func (s *Store) Terminate() { s.terminating = true }

// SetQuota limits the pods that have not ended; a negative number is no limit.
func (s *Store) SetQuota(pods int) { s.quota = pods }

func (s *Store) next() int64 {
	s.version++
	return s.version
}

func (s *Store) commit(c Commit) {
	c.Version, c.By, c.Asked = s.version, s.by, s.asked
	s.onCommit(c)
}

// commitJob stores a new version of a Job, or removes the Job if it is deleted and has no finalizers.
func (s *Store) commitJob(verb string, job *batchv1.Job) *batchv1.Job {
	old := s.jobs[job.Name]
	version := s.next()
	if job.DeletionTimestamp != nil && len(job.Finalizers) == 0 {
		delete(s.jobs, job.Name)
		s.commit(Commit{Verb: verb, OldJob: old})
		return job.DeepCopy()
	}
	job.ResourceVersion = strconv.FormatInt(version, 10)
	s.jobs[job.Name] = job
	s.commit(Commit{Verb: verb, OldJob: old, NewJob: job})
	return job.DeepCopy()
}

// commitPod stores a new version of a pod, or removes the pod if it is deleted and has neither finalizers nor a grace
// period.
func (s *Store) commitPod(verb string, pod *corev1.Pod) *corev1.Pod {
	old := s.pods[pod.Name]
	version := s.next()
	if pod.DeletionTimestamp != nil && len(pod.Finalizers) == 0 && ptr.Deref(pod.DeletionGracePeriodSeconds, 0) == 0 {
		// The write that removed the last finalizer removes the object.
		s.index(old, nil)
		s.commit(Commit{Verb: verb, OldPod: old})
		return s.copy(pod)
	}
	pod.ResourceVersion = strconv.FormatInt(version, 10)
	s.index(old, pod)
	s.commit(Commit{Verb: verb, OldPod: old, NewPod: pod})
	return s.copy(pod)
}

func (s *Store) copy(pod *corev1.Pod) *corev1.Pod {
	if s.shared {
		return pod
	}
	return pod.DeepCopy()
}

// index replaces a pod in every table; either argument may be nil.
func (s *Store) index(old, now *corev1.Pod) {
	if old != nil {
		if now == nil {
			delete(s.pods, old.Name)
			delete(s.byUID, old.UID)
		}
		if owner := observe.JobUID(old); now == nil || observe.JobUID(now) != owner {
			s.owned[owner].remove(old.UID)
		}
	}
	if now != nil {
		s.pods[now.Name], s.byUID[now.UID] = now, now
		owner := observe.JobUID(now)
		if s.owned[owner] == nil {
			s.owned[owner] = &podSet{at: map[types.UID]int{}}
		}
		s.owned[owner].put(now)
	}
}

// podSet is a set of pods in an order that depends only on the commits.
type podSet struct {
	list []*corev1.Pod
	at   map[types.UID]int
}

func (p *podSet) put(pod *corev1.Pod) {
	if i, ok := p.at[pod.UID]; ok {
		p.list[i] = pod
		return
	}
	p.at[pod.UID] = len(p.list)
	p.list = append(p.list, pod)
}

// remove removes a pod, and moves the last one to its position.
func (p *podSet) remove(uid types.UID) {
	i, last := p.at[uid], len(p.list)-1
	p.list[i] = p.list[last]
	p.at[p.list[i].UID] = i
	p.list = p.list[:last]
	delete(p.at, uid)
}

func (s *Store) timestamp() metav1.Time { return metav1.NewTime(s.now().Truncate(time.Second)) }

// Job returns a copy of a Job, or nil.
func (s *Store) Job(name string) *batchv1.Job { return s.jobs[name].DeepCopy() }

// Pod returns a copy of a pod, or nil.
func (s *Store) Pod(name string) *corev1.Pod { return s.pods[name].DeepCopy() }

// jobOf returns the Job of an owner reference, or nil.
func (s *Store) jobOf(name string, uid types.UID) *batchv1.Job {
	if job := s.jobs[name]; job != nil && job.UID == uid {
		return job
	}
	return nil
}

// podsOf returns the stored pods that the Job controls, in no particular order. The caller must not change them or the
// slice.
func (s *Store) podsOf(job types.UID) []*corev1.Pod {
	if set := s.owned[job]; set != nil {
		return set.list
	}
	return nil
}

// PodsOf returns the stored pods that the Job controls, by name. The caller must not change them.
func (s *Store) PodsOf(job types.UID) []*corev1.Pod {
	out := slices.Clone(s.podsOf(job))
	slices.SortFunc(out, func(a, b *corev1.Pod) int { return compareNames(a.Name, b.Name) })
	return out
}

// compareNames orders names so that p2 comes before p10.
func compareNames(a, b string) int {
	if len(a) != len(b) {
		return len(a) - len(b)
	}
	switch {
	case a < b:
		return -1
	case a > b:
		return 1
	}
	return 0
}
