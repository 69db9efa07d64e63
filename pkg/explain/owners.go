package explain

import (
	"cmp"
	"slices"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain/input"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain/meaning"
)

// CronJobState is the state of a CronJob: it starts Jobs, or a specific obstacle keeps it from starting them.
type CronJobState string

// The states.
const (
	CronJobScheduled       CronJobState = "Scheduled"        // no obstacle to the next start is known
	CronJobSuspended       CronJobState = "Suspended"        // spec.suspend
	CronJobDeleting        CronJobState = "Deleting"         // it has a deletionTimestamp
	CronJobGone            CronJobState = "Gone"             // the CronJob does not exist; its Jobs may
	CronJobUnread          CronJobState = "Unread"           // the CronJob could not be read
	CronJobCreationRefused CronJobState = "CreationRefused"  // quota, admission, RBAC: FailedCreate
	CronJobOverlap         CronJobState = "OverlapForbidden" // concurrencyPolicy Forbid, and a Job runs
	CronJobCannotReplace   CronJobState = "CannotReplace"    // concurrencyPolicy Replace, and a Job cannot be deleted
	CronJobMissedStart     CronJobState = "MissedStart"      // startingDeadlineSeconds had passed
	CronJobManyMissed      CronJobState = "ManyMissedStarts" // more than 100 starts were missed
	CronJobUnknownZone     CronJobState = "UnknownTimeZone"  // kube-controller-manager does not know the time zone
	CronJobBadSchedule     CronJobState = "InvalidSchedule"  // kube-controller-manager cannot parse the schedule
	CronJobOverdue         CronJobState = "Overdue"          // a start is due, and no event explains why it has not happened
	CronJobPileUp          CronJobState = "JobsPileUp"       // several Jobs of the schedule run at once: concurrencyPolicy Allow
	CronJobReplaces        CronJobState = "ReplacesRuns"     // concurrencyPolicy Replace, and starts end the runs before they have ended
	CronJobManualJobs      CronJobState = "ManualJobs"       // Jobs created by hand run, which concurrencyPolicy does not cover
)

// CronJobReport explains, at one moment, whether a CronJob starts Jobs.
type CronJobReport struct {
	Namespace string `json:"namespace"`
	Name      string `json:"name"`
	// ObservedAt is the moment.
	ObservedAt metav1.Time  `json:"observedAt"`
	State      CronJobState `json:"state"`
	// Owner and Tool are what creates the CronJob, nil if that is unknown.
	Owner *Owner `json:"owner,omitempty"`
	Tool  *Tool  `json:"tool,omitempty"`
	// Sentence is the answer, with at most 160 characters. Notes add to it. Each ends with a full stop.
	Sentence string   `json:"sentence"`
	Notes    []string `json:"notes,omitempty"`
	// Schedule, TimeZone, ConcurrencyPolicy and StartingDeadlineSeconds come from the spec of the CronJob.
	// ScheduleText is the schedule in words, "" if it cannot be parsed.
	Schedule                string `json:"schedule,omitempty"`
	ScheduleText            string `json:"scheduleText,omitempty"`
	TimeZone                string `json:"timeZone,omitempty"`
	ConcurrencyPolicy       string `json:"concurrencyPolicy,omitempty"`
	StartingDeadlineSeconds *int64 `json:"startingDeadlineSeconds,omitempty"`
	// EitherDay is set if the schedule restricts the days of the month and those of the week: one of the two is enough then.
	EitherDay bool `json:"eitherDay,omitempty"`
	// SuccessfulJobsHistoryLimit and FailedJobsHistoryLimit come from its spec, the other two from its jobTemplate.
	SuccessfulJobsHistoryLimit *int32 `json:"successfulJobsHistoryLimit,omitempty"`
	FailedJobsHistoryLimit     *int32 `json:"failedJobsHistoryLimit,omitempty"`
	TTLSecondsAfterFinished    *int32 `json:"ttlSecondsAfterFinished,omitempty"`
	ActiveDeadlineSeconds      *int64 `json:"activeDeadlineSeconds,omitempty"`
	// LastSchedule and LastSuccess are the lastScheduleTime and lastSuccessfulTime of the status.
	LastSchedule *metav1.Time `json:"lastSchedule,omitempty"`
	LastSuccess  *metav1.Time `json:"lastSuccess,omitempty"`
	// Next is the next start, nil if none is due or if it cannot be computed. ZoneAssumed is set if UTC is assumed, because
	// the spec has no timeZone and the time zone of kube-controller-manager is unknown.
	Next        *metav1.Time `json:"next,omitempty"`
	ZoneAssumed bool         `json:"zoneAssumed,omitempty"`
	// ClockChange is the next change of the clocks of the TimeZone, if it adds or removes starts within a month.
	ClockChange *ClockChange `json:"clockChange,omitempty"`
	// Jobs is the number of the CronJob's Jobs; Active are the names of running ones, at most three.
	Jobs   int32    `json:"jobs"`
	Active []string `json:"active,omitempty"`
	// Running is the number of unfinished Jobs that the CronJob started, Stalled the number of stalled ones among them, and
	// Manual the number of unfinished Jobs that were created from it by hand.
	Running int32 `json:"running,omitempty"`
	Stalled int32 `json:"stalled,omitempty"`
	Manual  int32 `json:"manual,omitempty"`
	// Oldest is the oldest unfinished Job that the CronJob started, or the oldest stalled one if any is stalled. Last is the Job of the last start; its name is "" if it no
	// longer exists.
	Oldest *OwnedRun `json:"oldest,omitempty"`
	Last   *OwnedRun `json:"last,omitempty"`
	// Kept are the failed Jobs of the schedule that ended before LastSuccess, the newest first, if no later run has a problem: only
	// failedJobsHistoryLimit keeps them.
	Kept []string `json:"kept,omitempty"`
	// LateSeconds is how long after its scheduled time, LastSchedule, the Job of the last start was created; 0 if that is
	// less than ten minutes, or if the Job has a problem.
	LateSeconds int64 `json:"lateSeconds,omitempty"`
	// ByHand is the newest Job that was created by hand, if no Job of the schedule is newer, and if it has a problem, is Unexpected, or
	// the schedule has started none. Unexpected is the Job that the last event UnexpectedJob is about.
	ByHand     *OwnedRun `json:"byHand,omitempty"`
	Unexpected string    `json:"unexpected,omitempty"`
	// Uncounted is the newest Job that was created by hand, succeeded after LastSuccess, and is no success of the CronJob, as that does not
	// control it.
	Uncounted *OwnedRun `json:"uncounted,omitempty"`
	// Replaced is the number of unfinished Jobs that starts have ended, as far as events show it (ReplacesRuns).
	Replaced int32 `json:"replaced,omitempty"`
	// DefaultCommand is the only container of the template if it has neither command nor arguments.
	DefaultCommand *DefaultCommand `json:"defaultCommand,omitempty"`
	// Runs are the runs that Jobs and events still show, the newest first.
	Runs []OwnedRun `json:"runs,omitempty"`
	// Skipped are the starts that did not happen, as far as the status and events show them.
	Skipped []SkippedStarts `json:"skipped,omitempty"`
	// SuspendedBy is the field manager that last set spec.suspend of a suspended CronJob, and SuspendedAt when it last wrote
	// the spec.
	SuspendedBy string       `json:"suspendedBy,omitempty"`
	SuspendedAt *metav1.Time `json:"suspendedAt,omitempty"`
	// Since is the time at which the state was first reported.
	Since *metav1.Time `json:"since,omitempty"`
	// Missed is the start that was missed (MissedStart), or that is due (Overdue). MissedStarts is the number of starts that
	// were missed since the last one, 0 if only an event reports it.
	Missed       *metav1.Time `json:"missed,omitempty"`
	MissedStarts int32        `json:"missedStarts,omitempty"`
	// Rejected is the time zone or the schedule that kube-controller-manager does not accept. It may have been changed since.
	Rejected string `json:"rejected,omitempty"`
	// Refusal is the reason why the API server refuses the Jobs (CreationRefused).
	Refusal *meaning.Refusal `json:"refusal,omitempty"`
	// Details are messages of events.
	Details []string `json:"details,omitempty"`
	Advice  []Advice `json:"advice,omitempty"`
	// Gaps list the data that could not be read.
	Gaps []input.Gap `json:"gaps,omitempty"`
}

// Named returns the name of the Job that the sentence is about, "" if it is about none.
func (r *CronJobReport) Named() string {
	switch {
	case r.State == CronJobScheduled && r.ByHand != nil:
		return r.ByHand.named()
	case r.State == CronJobScheduled || r.State == CronJobReplaces:
		return r.Last.named()
	case r.State == CronJobOverlap || r.State == CronJobPileUp:
		return r.Oldest.named()
	}
	return ""
}

// NeverDue reports whether no day matches the schedule, such as 30 February.
func (r *CronJobReport) NeverDue() bool {
	return r.State == CronJobScheduled && r.Next == nil && r.ScheduleText != ""
}

// DefaultCommand is a container that runs the command of its image.
type DefaultCommand struct {
	Container string `json:"container"`
	Image     string `json:"image"`
}

// ClockChange is a change to or from daylight saving time that adds starts, or removes some.
type ClockChange struct {
	At metav1.Time `json:"at"`
	// Clock is the local time of the first of these starts, such as 02:30. Removed is the number of starts at local times that
	// do not exist, and Added the number of additional ones at local times that exist twice.
	Clock   string `json:"clock"`
	Removed int32  `json:"removed,omitempty"`
	Added   int32  `json:"added,omitempty"`
}

// SkippedStarts are starts that did not happen for one reason: OverlapForbidden or MissedStart.
type SkippedStarts struct {
	Reason CronJobState `json:"reason"`
	Starts int32        `json:"starts"`
	// Last is the last of these starts, nil if it is unknown.
	Last *metav1.Time `json:"last,omitempty"`
}

// OwnedState is the state of a Job of a CronJob or JobSet.
type OwnedState string

// The states.
const (
	OwnedRunning   OwnedState = "Running"
	OwnedStalled   OwnedState = "Stalled"
	OwnedSuspended OwnedState = "Suspended"
	OwnedSucceeded OwnedState = "Succeeded" // or certain to succeed
	OwnedFailing   OwnedState = "Failing"   // certain to fail
	OwnedFailed    OwnedState = "Failed"
	OwnedUnknown   OwnedState = "Unknown" // the Job no longer exists
)

// OwnedRun is a Job of a CronJob or JobSet in short.
type OwnedRun struct {
	Name  string     `json:"name,omitempty"`
	State OwnedState `json:"state"`
	// Since is the time at which the state began, or at which the Job was created.
	Since *metav1.Time `json:"since,omitempty"`
	// Cause is the reason why the Job or its pods failed, or why it is stalled or suspended, without a full stop; "" if none is known.
	Cause string `json:"cause,omitempty"`
	// Waits is what a failing Job waits for, or how often a stalled one was restarted, if Cause has no room for that; "" for others.
	Waits string `json:"waits,omitempty"`
	// FailedPods is the number of pods of a running Job that failed by themselves.
	FailedPods int32 `json:"failedPods,omitempty"`
	// Limit is how far a running Job with failures is from its backoffLimit, nil for others.
	Limit *BackoffLimit `json:"limit,omitempty"`
	// Fix is the first step of the advice about the cause of the Job, and Logs the one to read a log; nil for none.
	Fix  *Advice `json:"fix,omitempty"`
	Logs *Advice `json:"logs,omitempty"`
	// Deleting is set if the Job has been deleted and waits for something.
	Deleting bool `json:"deleting,omitempty"`
	// Started and Finished are when the Job started and finished, nil if it has not, or if that is unknown.
	Started  *metav1.Time `json:"started,omitempty"`
	Finished *metav1.Time `json:"finished,omitempty"`
	// Manual is set if a user created the Job from the template of a CronJob, Outdated if the CronJob has been changed since and its
	// pod template is not that of the Job. Removed is set if only events show the run.
	Manual   bool `json:"manual,omitempty"`
	Outdated bool `json:"outdated,omitempty"`
	Removed  bool `json:"removed,omitempty"`
}

// Fails reports whether the Job failed, is going to, or cannot go on, or whether it is gone without a recorded success.
func (r *OwnedRun) Fails() bool {
	return r != nil && slices.Contains([]OwnedState{OwnedFailed, OwnedFailing, OwnedStalled, OwnedUnknown}, r.State)
}

func (r *OwnedRun) named() string {
	if r == nil {
		return ""
	}
	return r.Name
}

// Duration returns how long the Job has run, -1 if that is unknown.
func (r *OwnedRun) Duration(now time.Time) time.Duration {
	switch {
	case r.Started.IsZero() || r.Removed && r.Finished.IsZero():
		return -1
	case !r.Finished.IsZero():
		now = r.Finished.Time
	}
	return max(0, now.Sub(r.Started.Time))
}

// JobSetState is the state of a JobSet.
type JobSetState string

// The states.
const (
	JobSetRunning         JobSetState = "Running"
	JobSetCompleted       JobSetState = "Completed"       // its condition
	JobSetFailed          JobSetState = "Failed"          // its condition
	JobSetSuspended       JobSetState = "Suspended"       // spec.suspend
	JobSetStarting        JobSetState = "Starting"        // condition StartupPolicyInProgress
	JobSetJobsSuspended   JobSetState = "JobsSuspended"   // its Jobs are suspended, and it is not
	JobSetJobsMissing     JobSetState = "JobsMissing"     // a replicatedJob has no Jobs, others have
	JobSetCreationRefused JobSetState = "CreationRefused" // it has no Jobs, and its events say why
	JobSetNoJobs          JobSetState = "NoJobs"          // it has no Jobs, and no event says why
	JobSetGone            JobSetState = "Gone"            // the JobSet does not exist; its Jobs do
	JobSetUnread          JobSetState = "Unread"          // the JobSet could not be read
)

// JobSetReport explains a JobSet at one moment.
type JobSetReport struct {
	Namespace string      `json:"namespace"`
	Name      string      `json:"name"`
	State     JobSetState `json:"state"`
	// Sentence is the answer, with at most 160 characters. Notes add to it. Each ends with a full stop.
	Sentence string   `json:"sentence"`
	Notes    []string `json:"notes,omitempty"`
	// Reason, Message and Since come from the condition behind the state.
	Reason  string       `json:"reason,omitempty"`
	Message string       `json:"message,omitempty"`
	Since   *metav1.Time `json:"since,omitempty"`
	// Jobs is the number of existing Jobs, Wanted the number of Jobs in the spec, and Succeeded the number of successful ones.
	Jobs      int32 `json:"jobs"`
	Wanted    int32 `json:"wanted"`
	Succeeded int32 `json:"succeeded"`
	// Restarts is status.restarts; MaxRestarts is nil without a failurePolicy.
	Restarts    int32  `json:"restarts"`
	MaxRestarts *int32 `json:"maxRestarts,omitempty"`
	// Rules are the rules of the failurePolicy with the action FailJobSet.
	Rules []string `json:"rules,omitempty"`
	// SuccessPolicy lists the replicatedJobs that have to succeed; empty without a successPolicy.
	SuccessPolicy []string `json:"successPolicy,omitempty"`
	// Job is the Job that decided the state, or is stalled; nil if none is known.
	Job *OwnedRun `json:"job,omitempty"`
	// Open is the name of the first Job that runs without a known problem.
	Open string `json:"open,omitempty"`
	// Held is what keeps Kueue from admitting the JobSet (Suspended), nil if that is unknown.
	Held *Suspension `json:"held,omitempty"`
	// StillRun are the Jobs of which pods run although the JobSet has ended, and TTLSeconds its ttlSecondsAfterFinished, nil for none.
	StillRun   []string `json:"stillRun,omitempty"`
	TTLSeconds *int32   `json:"ttlSecondsAfterFinished,omitempty"`
	// Waits lists replicatedJobs that have not started, with the replicatedJobs that they wait for.
	Waits []ReplicatedWait `json:"waits,omitempty"`
	// Missing is the first replicatedJob without Jobs, and BadTemplate what the API server does not accept in its template, "" if
	// that is unknown (JobsMissing).
	Missing     string `json:"missing,omitempty"`
	BadTemplate string `json:"badTemplate,omitempty"`
	// BadService is the name of the JobSet's Service if no Service may have it (NoJobs).
	BadService string `json:"badService,omitempty"`
	// Untouched is set if the JobSet has no status either, and Lacking are its replicatedJobs (NoJobs).
	Untouched bool     `json:"untouched,omitempty"`
	Lacking   []string `json:"lacking,omitempty"`
	// Suspend is spec.suspend, Queue its queue of Kueue, and ManagedBy spec.managedBy, "" for the JobSet controller.
	Suspend   bool   `json:"suspend,omitempty"`
	Queue     string `json:"queue,omitempty"`
	ManagedBy string `json:"managedBy,omitempty"`
	// Refused is the name of the Job that cannot be created; "" if another object cannot be. Refusal is the reason.
	Refused string           `json:"refused,omitempty"`
	Refusal *meaning.Refusal `json:"refusal,omitempty"`
	// Unlimited lists containers that request a resource without an equal limit that needs one (CreationRefused).
	Unlimited []Unlimited `json:"unlimited,omitempty"`
	// Dropped are the fields that were applied and that the JobSet lacks.
	Dropped []input.DroppedField `json:"dropped,omitempty"`
	// Details are messages of events.
	Details []string `json:"details,omitempty"`
	Advice  []Advice `json:"advice,omitempty"`
	// Gaps list the data that could not be read.
	Gaps []input.Gap `json:"gaps,omitempty"`
}

// Named returns the name of the Job that the sentence is about, or the first one that has not ended; "" if there is none.
func (r *JobSetReport) Named() string {
	return cmp.Or(r.Job.named(), r.Open)
}

// ReplicatedWait is a replicatedJob that waits for another one.
type ReplicatedWait struct {
	ReplicatedJob string `json:"replicatedJob"`
	For           string `json:"for"`
	// Status is the awaited status of the other one: Ready or Complete.
	Status string `json:"status"`
}

// Unlimited is a container that requests a resource without an equal limit.
type Unlimited struct {
	ReplicatedJob string `json:"replicatedJob"`
	Container     string `json:"container"`
	Resource      string `json:"resource"`
}
