// Package kueue decodes the Workload that Kueue stores for a Job of one of its queues, and explains why Kueue does not admit
// the Job. It does no I/O, and supports the versions v1beta1 and v1beta2 of Kueue's API without its Go types.
package kueue

import (
	"slices"
	"strings"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/lists"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/reconcile/jobspec"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/wording"
)

// Names of Kueue.
const (
	// Group is Kueue's API group, and Workloads the resource that explains why a Job is not admitted.
	Group     = "kueue.x-k8s.io"
	Workloads = "workloads." + Group
	// QueueLabel is the label of a Job with the name of its LocalQueue.
	QueueLabel = Group + "/queue-name"
	// MaxTimeLabel is the label of a Job with its maximum execution time in seconds.
	MaxTimeLabel = Group + "/max-exec-time-seconds"
	jobUIDLabel  = Group + "/job-uid"
	jobNameLabel = Group + "/job-name"
	// prebuiltLabel is the label of a Job with the name of a Workload that another client created.
	prebuiltLabel = Group + "/prebuilt-workload-name"
)

// Suspended reports whether Kueue itself has set spec.suspend of the Job; manager is the field manager that did.
func Suspended(manager string) bool { return strings.Contains(manager, "kueue") }

// Manages reports whether Kueue decides when the Job runs.
func Manages(job *batchv1.Job) bool {
	return job.Labels[QueueLabel] != "" || strings.HasPrefix(ptr.Deref(job.Spec.ManagedBy, ""), Group+"/")
}

// IsGate reports whether Kueue holds pods by the scheduling gate of this name.
func IsGate(name string) bool { return strings.HasPrefix(name, Group+"/") }

// Places reports whether Kueue chooses the nodes of the pods, by a topology that the pod template asks for.
func Places(job *batchv1.Job) bool {
	notes := job.Spec.Template.Annotations
	return Manages(job) && notes[Group+"/podset-required-topology"]+notes[Group+"/podset-preferred-topology"]+notes[Group+"/podset-unconstrained-topology"] != ""
}

// MayHold reports whether Kueue may hold the Job: it is suspended, or its pods have a scheduling gate of Kueue and are not all ready.
func MayHold(job *batchv1.Job) bool {
	isGate := func(g corev1.PodSchedulingGate) bool { return IsGate(g.Name) }
	return jobspec.IsSuspended(&job.Spec) ||
		ptr.Deref(job.Status.Ready, 0) < job.Status.Active && slices.ContainsFunc(job.Spec.Template.Spec.SchedulingGates, isGate)
}

// Workload holds the data of a Workload, which Kueue stores for a Job of one of its queues.
type Workload struct {
	Name  string
	Queue string
	// Inactive reports whether Kueue does not try to admit the Workload: spec.active is false.
	Inactive bool
	// MaxSeconds is the maximum execution time, nil for none.
	MaxSeconds *int64
	Conditions []metav1.Condition
	// Checks are the admission checks that are not Ready, with their states. RequeueAt is when Kueue queues the Workload again.
	Checks    []AdmissionCheck
	RequeueAt *metav1.Time
	// Topology is the placement of the pods of its only pod set in a topology, nil for none, and PodSets the number of pod sets.
	Topology *Topology
	PodSets  int
}

// Topology is the placement of pods in a topology: Placed of Count have a place. SliceSize is the number of pods in each slice, 0 without slices.
type Topology struct {
	Count     int32 `json:"count"`
	Placed    int32 `json:"placed"`
	SliceSize int32 `json:"sliceSize,omitempty"`
}

// AdmissionCheck is a check that Kueue waits for after it has reserved quota.
type AdmissionCheck struct {
	Name    string `json:"name"`
	State   string `json:"state,omitempty"`
	Message string `json:"message,omitempty"`
}

// Condition returns the condition of the type, nil if there is none.
func (w *Workload) Condition(kind string) *metav1.Condition {
	return lists.First(w.Conditions, func(c *metav1.Condition) bool { return c.Type == kind })
}

// Object holds the fields of a Workload that explanations use, in the format of v1beta1 and v1beta2 of Kueue's API.
type Object struct {
	Metadata metav1.ObjectMeta `json:"metadata"`
	Spec     struct {
		QueueName  string `json:"queueName"`
		Active     *bool  `json:"active"`
		MaxSeconds *int64 `json:"maximumExecutionTimeSeconds"`
		PodSets    []struct {
			TopologyRequest struct {
				SliceSize int32 `json:"podSetSliceSize"`
			} `json:"topologyRequest"`
		} `json:"podSets"`
	} `json:"spec"`
	Status struct {
		Conditions      []metav1.Condition `json:"conditions"`
		AdmissionChecks []AdmissionCheck   `json:"admissionChecks"`
		RequeueState    struct {
			RequeueAt *metav1.Time `json:"requeueAt"`
		} `json:"requeueState"`
		Admission struct {
			PodSets []assignment `json:"podSetAssignments"`
		} `json:"admission"`
	} `json:"status"`
}

// assignment is where Kueue places the pods of a pod set: in domains (v1beta1), or in slices of domains (v1beta2).
type assignment struct {
	Count    int32 `json:"count"`
	Topology struct {
		Domains []struct {
			Count int32 `json:"count"`
		} `json:"domains"`
		Slices []struct {
			Domains   int32 `json:"domainCount"`
			PodCounts struct {
				Universal  int32   `json:"universal"`
				Individual []int32 `json:"individual"`
			} `json:"podCounts"`
		} `json:"slices"`
	} `json:"topologyAssignment"`
}

// placed returns the number of pods that have a place.
func (a *assignment) placed() (n int32) {
	for _, d := range a.Topology.Domains {
		n += d.Count
	}
	for _, s := range a.Topology.Slices {
		n += s.Domains * s.PodCounts.Universal
		for _, pods := range s.PodCounts.Individual {
			n += pods
		}
	}
	return n
}

// topology returns the placement of the pods of a Workload with a single pod set, or nil.
func (o *Object) topology() *Topology {
	if len(o.Spec.PodSets) != 1 || len(o.Status.Admission.PodSets) != 1 {
		return nil
	}
	a := &o.Status.Admission.PodSets[0]
	if n := a.placed(); n > 0 {
		return &Topology{Count: a.Count, Placed: n, SliceSize: o.Spec.PodSets[0].TopologyRequest.SliceSize}
	}
	return nil
}

// IsOf reports whether the Workload belongs to the Job or to its owner, such as a JobSet: by its own owner, by the label of the
// Job, or by its own labels.
func (o *Object) IsOf(job *batchv1.Job) bool {
	if o.Metadata.Namespace != job.Namespace {
		return false
	}
	uids := uidsOf(job)
	for i := range o.Metadata.OwnerReferences {
		if slices.Contains(uids, string(o.Metadata.OwnerReferences[i].UID)) {
			return true
		}
	}
	labels := o.Metadata.Labels
	switch {
	case labels[jobUIDLabel] != "":
		return slices.Contains(uids, labels[jobUIDLabel])
	case job.Labels[prebuiltLabel] != "":
		return job.Labels[prebuiltLabel] == o.Metadata.Name
	}
	return len(o.Metadata.OwnerReferences) == 0 && labels[jobNameLabel] == job.Name
}

// Workload converts the object to the data that explanations use.
func (o *Object) Workload() *Workload {
	w := &Workload{Name: o.Metadata.Name, Queue: o.Spec.QueueName, Inactive: !ptr.Deref(o.Spec.Active, true), MaxSeconds: o.Spec.MaxSeconds, RequeueAt: o.Status.RequeueState.RequeueAt, Topology: o.topology(), PodSets: len(o.Spec.PodSets)}
	for i := range o.Status.Conditions {
		c := &o.Status.Conditions[i]
		c.Message = wording.CutBytes(c.Message, maxMessage)
		w.Conditions = append(w.Conditions, *c)
	}
	for _, check := range o.Status.AdmissionChecks {
		if check.State != "Ready" {
			check.Message = wording.CutBytes(check.Message, maxMessage)
			w.Checks = append(w.Checks, check)
		}
	}
	return w
}

// JobSelector returns the label selector for the Workload of the Job.
func JobSelector(job *batchv1.Job) string { return jobUIDLabel + "=" + string(job.UID) }

// OwnerSelector returns the label selector for the Workload of the Job, or of its owner.
func OwnerSelector(job *batchv1.Job) string {
	return jobUIDLabel + " in (" + strings.Join(uidsOf(job), ",") + ")"
}

// HasOwner reports whether the Job has an owner that Kueue may manage.
func HasOwner(job *batchv1.Job) bool { return len(uidsOf(job)) > 1 }

// uidsOf returns the UIDs of the Job and of its owner, a CronJob aside.
func uidsOf(job *batchv1.Job) []string {
	uids := []string{string(job.UID)}
	if owner := metav1.GetControllerOfNoCopy(job); owner != nil && owner.Kind != "CronJob" {
		uids = append(uids, string(owner.UID))
	}
	return uids
}

// maxMessage is the number of bytes kept of a message: a Workload may have messages of 32 KiB.
const maxMessage = 1024
