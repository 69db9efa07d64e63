package input

import (
	"cmp"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain/kueue"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/lists"
)

// JobSets is the resource of JobSets, and JobSetVersion the version of its API that is read.
const (
	JobSets       = "jobsets." + JobSetGroup
	JobSetGroup   = "jobset.x-k8s.io"
	JobSetVersion = "v1alpha2"
)

// JobSet holds the data read about a JobSet.
type JobSet struct {
	Now             time.Time
	Namespace, Name string
	// JobSet is nil if it does not exist, or if it could not be read (see Gaps).
	JobSet *JobSetObject
	// Events are the events about the JobSet itself. They are read only if it has no Jobs.
	Events []Event
	// Dropped are the fields that were applied and that it lacks.
	Dropped []DroppedField
	// Jobs is the number of its Jobs.
	Jobs int
	// Workload is the Workload of a suspended JobSet without Jobs, nil if Kueue has none for it.
	Workload *kueue.Workload
	Gaps     []Gap
}

// JobSetObject has the fields of a JobSet that explanations use.
type JobSetObject struct {
	Metadata metav1.ObjectMeta `json:"metadata"`
	Spec     struct {
		Suspend        bool            `json:"suspend"`
		ManagedBy      string          `json:"managedBy"`
		TTLSeconds     *int32          `json:"ttlSecondsAfterFinished"`
		ReplicatedJobs []ReplicatedJob `json:"replicatedJobs"`
		Network        struct {
			EnableDNSHostnames *bool  `json:"enableDNSHostnames"`
			Subdomain          string `json:"subdomain"`
		} `json:"network"`
		StartupPolicy struct {
			Order string `json:"startupPolicyOrder"`
		} `json:"startupPolicy"`
		FailurePolicy *struct {
			MaxRestarts int32 `json:"maxRestarts"`
			Rules       []struct {
				Name   string `json:"name"`
				Action string `json:"action"`
			} `json:"rules"`
		} `json:"failurePolicy"`
		SuccessPolicy *struct {
			Operator             string   `json:"operator"`
			TargetReplicatedJobs []string `json:"targetReplicatedJobs"`
		} `json:"successPolicy"`
	} `json:"spec"`
	Status struct {
		Conditions           []metav1.Condition    `json:"conditions"`
		Restarts             int32                 `json:"restarts"`
		ReplicatedJobsStatus []ReplicatedJobStatus `json:"replicatedJobsStatus"`
	} `json:"status"`
}

// ReplicatedJob is a template of a JobSet for a number of Jobs.
type ReplicatedJob struct {
	Name      string                  `json:"name"`
	Replicas  *int32                  `json:"replicas"`
	Template  batchv1.JobTemplateSpec `json:"template"`
	DependsOn []struct {
		Name   string `json:"name"`
		Status string `json:"status"`
	} `json:"dependsOn"`
}

// ReplicatedJobStatus counts the Jobs of a ReplicatedJob.
type ReplicatedJobStatus struct {
	Name      string `json:"name"`
	Ready     int32  `json:"ready"`
	Succeeded int32  `json:"succeeded"`
	Failed    int32  `json:"failed"`
	Active    int32  `json:"active"`
	Suspended int32  `json:"suspended"`
}

// ServiceName returns the name of the Service that the JobSet's controller creates before its Jobs, "" if it creates none.
func (o *JobSetObject) ServiceName() string {
	if n := &o.Spec.Network; ptr.Deref(n.EnableDNSHostnames, true) {
		return cmp.Or(n.Subdomain, o.Metadata.Name)
	}
	return ""
}

// IsUntouched reports whether the JobSet has no status, which its controller writes before it creates Jobs.
func (o *JobSetObject) IsUntouched() bool {
	return len(o.Status.Conditions) == 0 && len(o.Status.ReplicatedJobsStatus) == 0 && o.Status.Restarts == 0
}

// Condition returns the condition of the type if its status is True, nil otherwise.
func (o *JobSetObject) Condition(of string) *metav1.Condition {
	return lists.First(o.Status.Conditions, func(c *metav1.Condition) bool { return c.Type == of && c.Status == metav1.ConditionTrue })
}

// Wanted returns the number of Jobs of the JobSet, at least one.
func (o *JobSetObject) Wanted() (n int) {
	for i := range o.Spec.ReplicatedJobs {
		n += int(ptr.Deref(o.Spec.ReplicatedJobs[i].Replicas, 1))
	}
	return max(n, 1)
}
