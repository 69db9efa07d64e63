package model

import (
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
)

// Case is a Job, the behavior of its pods, and the actions of users.
type Case struct {
	Spec batchv1.JobSpec
	// RuleNames is the annotation that names the rules of the podFailurePolicy (KEP-4443).
	RuleNames string
	// Held reports whether the Job has another finalizer: once deleted, it stays.
	Held    bool
	Scripts []Script
	// Edits are the actions of users, in the order of At.
	Edits []Edit
}

// RuleNames is the annotation of KEP-4443, Holder another client's finalizer.
const (
	RuleNames = "batchjob.dev/pod-failure-policy-rule-names"
	Holder    = "example.com/hold"
)

// Job returns the Job, without a name.
func (c *Case) Job() *batchv1.Job {
	job := &batchv1.Job{Spec: *c.Spec.DeepCopy()}
	if c.RuleNames != "" {
		job.Annotations = map[string]string{RuleNames: c.RuleNames}
	}
	if c.Held {
		job.Finalizers = []string{Holder}
	}
	return job
}

// Forever is the run time of a pod that does not end on its own.
const Forever time.Duration = -1

// Script is the behavior of a pod; the last script that matches a pod applies. A pod without a script runs for two
// seconds and succeeds, and takes as long to terminate when it is deleted.
type Script struct {
	// Index is the completion index, -1 for any; Nth is the position in the order of
	// creation among the pods of the index, or of a Job without indexes, 0 for any.
	Index, Nth int
	Run        time.Duration
	// Exit is the exit code of the container main, SideExit of side, and SetupExit of the init container setup, as far as
	// the Job has them. After a nonzero SetupExit, the other containers do not run.
	Exit, SideExit, SetupExit int32
	// Condition, if any, is true of the pod once it has ended.
	Condition corev1.PodConditionType
	// Restarts is the number of restarts of main, RestartsAfter the time from its start until they happen.
	Restarts      int32
	RestartsAfter time.Duration
	// Terminate is how long the pod takes to end when it is deleted, and TerminateExit the exit code of all containers in
	// that case.
	Terminate     time.Duration
	TerminateExit int32
	// Unscheduled pods never run; Lost ones have an unreachable node once they are deleted.
	Unscheduled, Lost bool
}

// Action is an action of a user.
type Action string

// The actions of users. The first group sets a field of the Job's spec to Value.
const (
	SetParallelism      Action = "parallelism"
	SetSize             Action = "completions and parallelism"
	SetSuspend          Action = "suspend"
	SetBackoffLimit     Action = "backoffLimit"
	SetDeadline         Action = "activeDeadlineSeconds" // -1 for none
	SetMaxFailedIndexes Action = "maxFailedIndexes"
	SetReplacement      Action = "podReplacementPolicy" // 1 for Failed
	// SetLimits sets every limit of the Job that is set.
	SetLimits Action = "backoffLimit, activeDeadlineSeconds and maxFailedIndexes"

	DeleteJob      Action = "delete the Job"
	DeletePod      Action = "delete a pod" // the oldest active one of the index Value
	EvictPod       Action = "evict a pod"
	CleanSucceeded Action = "delete succeeded pods"
	CleanFailed    Action = "delete failed pods"
)

// Edit is one action of a user.
type Edit struct {
	At     time.Duration
	Action Action
	Value  int32
}

// Change applies the edit to a spec, if it changes the spec.
func (e Edit) Change(spec *batchv1.JobSpec) {
	value := e.Value
	switch e.Action {
	case SetParallelism:
		spec.Parallelism = &value
	case SetSize:
		completions := e.Value
		spec.Completions, spec.Parallelism = &completions, &value
	case SetSuspend:
		suspend := e.Value == 1
		spec.Suspend = &suspend
	case SetBackoffLimit:
		spec.BackoffLimit = &value
	case SetDeadline:
		spec.ActiveDeadlineSeconds = nil
		if seconds := int64(e.Value); seconds >= 0 {
			spec.ActiveDeadlineSeconds = &seconds
		}
	case SetMaxFailedIndexes:
		spec.MaxFailedIndexes = &value
	case SetLimits:
		seconds := int64(e.Value)
		spec.BackoffLimit, spec.ActiveDeadlineSeconds = &value, &seconds
		if spec.MaxFailedIndexes != nil {
			spec.MaxFailedIndexes = &value
		}
	case SetReplacement:
		policy := batchv1.TerminatingOrFailed
		if e.Value == 1 {
			policy = batchv1.Failed
		}
		spec.PodReplacementPolicy = &policy
	}
}

// Never is a time in the infinite future.
const Never = time.Duration(1<<63 - 1)

// Outcome is the state of a Case when nothing happens anymore.
type Outcome struct {
	// Gone reports whether the Job is gone.
	Gone bool
	// Conditions are sorted by type, without times.
	Conditions                                    []Condition
	Active, Ready, Terminating, Succeeded, Failed int32
	// Uncounted is the number of pods that are recorded but not counted; Tracked is the number of ended pods of a
	// finished Job that still have the tracking finalizer.
	Uncounted, Tracked int
	CompletedIndexes   string
	// FailedIndexes is "nil" if the field is unset.
	FailedIndexes string
	// Start and End are startTime and completionTime, or Never.
	Start, End time.Duration
	// Finished is when the Job got its terminal condition, or Never.
	Finished time.Duration
	// Pods are the created pods, by index and then by time.
	Pods []Made
}

// Condition is a condition of a Job. Its message contains pod names as returned by PodName.
type Condition struct {
	Type            batchv1.JobConditionType
	Status          corev1.ConditionStatus
	Reason, Message string
}

// Made is the creation of a pod.
type Made struct {
	Index, Nth int
	At         time.Duration
}
