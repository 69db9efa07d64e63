package explain

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/cause"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain/meaning"
)

// EndedBy is the limit, the rule or the policy that ends a Job.
type EndedBy string

// The ways in which Jobs end.
const (
	EndedByBackoffLimit     EndedBy = "BackoffLimit"     // more pods failed than backoffLimit allows
	EndedByRestarts         EndedBy = "Restarts"         // restarts of containers used up backoffLimit
	EndedByDeadline         EndedBy = "Deadline"         // activeDeadlineSeconds
	EndedByNeverStarting    EndedBy = "NeverStarting"    // activeDeadlineSeconds, and no pod has ever started
	EndedByMaxFailedIndexes EndedBy = "MaxFailedIndexes" // more indexes failed than maxFailedIndexes allows
	EndedByFailedIndexes    EndedBy = "FailedIndexes"    // all indexes have ended, and some of them failed
	EndedByRule             EndedBy = "Rule"             // a rule of the podFailurePolicy
	EndedBySuccessPolicy    EndedBy = "SuccessPolicy"    // a rule of the successPolicy
	EndedByCompletions      EndedBy = "Completions"      // completions
	EndedByOther            EndedBy = "Other"            // the condition has another reason
)

// End is how a Job ended, or is going to end. It is empty while the outcome is open.
type End struct {
	EndedBy EndedBy `json:"endedBy,omitempty"`
	// DecidedAt is when the outcome was decided.
	DecidedAt *metav1.Time `json:"decidedAt,omitempty"`
	// Reason and Message come from the condition that decided the outcome.
	Reason  string `json:"reason,omitempty"`
	Message string `json:"message,omitempty"`
	// Rule and RuleName identify the rule of the podFailurePolicy behind the reason, if there is one and it is known.
	Rule     *int32 `json:"rule,omitempty"`
	RuleName string `json:"ruleName,omitempty"`
	// Limit is the value of the limit now: backoffLimit, activeDeadlineSeconds, maxFailedIndexes, or backoffLimitPerIndex of
	// FailedIndexes. It is nil if the spec no longer has one.
	Limit *int64 `json:"limit,omitempty"`
	// Counted is the number of failed pods that exceeded the backoffLimit, or of those that failed by themselves until the deadline if none
	// was stopped then.
	Counted int32 `json:"counted,omitempty"`
	// AtOnce is the parallelism if several pods failed that could run at the same time: the limit is for all of them together. OnlyIndex is
	// the index that all of them had, if there are others.
	AtOnce    int32  `json:"atOnce,omitempty"`
	OnlyIndex *int32 `json:"onlyIndex,omitempty"`
	// Restarts are the restarts of containers, if they count towards the backoffLimit.
	Restarts *Restarts `json:"restarts,omitempty"`
	// NeverStarted is the problem that kept the pods from starting until the deadline.
	NeverStarted *Problem `json:"neverStarted,omitempty"`
	// Outlived is a pod that only some of its containers kept running until the deadline.
	Outlived *Outlived `json:"outlived,omitempty"`
	// CutShort is the container that had run longest at the deadline, if no other field explains it, and events show it.
	CutShort *CutShort `json:"cutShort,omitempty"`
	// Looped is the container that failed and was restarted again and again until the deadline.
	// LoopedExit is how it ended before a restart, nil if that is unknown; LoopedGone is set if its pod no longer exists.
	Looped     string      `json:"looped,omitempty"`
	LoopedExit *cause.Exit `json:"loopedExit,omitempty"`
	LoopedGone bool        `json:"loopedGone,omitempty"`
	// FailedIndexes are the failed indexes, if they ended the Job, and IndexRule the rule that failed all of them.
	FailedIndexes    string     `json:"failedIndexes,omitempty"`
	FailedIndexCount int32      `json:"failedIndexCount,omitempty"`
	IndexRule        *IndexRule `json:"indexRule,omitempty"`
	// WaitsFor is what the terminal condition waits for while Failing or Succeeding.
	WaitsFor *WaitsFor `json:"waitsFor,omitempty"`
}

// Restarts are the restarts that used up the backoffLimit: at least Count, exactly if Exact.
type Restarts struct {
	Count int32 `json:"count"`
	Exact bool  `json:"exact,omitempty"`
	// Container is the container that was restarted, "" if there may be several; Pod is its pod if that is the only one, and still exists.
	Container string `json:"container,omitempty"`
	Pod       string `json:"pod,omitempty"`
	// Init is set if the container is an init container: Later are the containers that it kept from starting, and Servers what its
	// command waits for.
	Init    bool     `json:"init,omitempty"`
	Later   []string `json:"later,omitempty"`
	Servers []string `json:"servers,omitempty"`
	// NoneLeft reports whether no pod of the Job exists, and so no log.
	NoneLeft bool `json:"noneLeft,omitempty"`
	// Exit is how a container ended before its last restart, nil if it is unknown; Message is its termination message, and
	// Error the error in it, if its meaning is known.
	Exit    *cause.Exit         `json:"exit,omitempty"`
	Message string              `json:"message,omitempty"`
	Error   *meaning.KnownError `json:"error,omitempty"`
	// Ending is the failed probe for which the kubelet killed the container, nil if none is known; Message is then its output.
	Ending *meaning.Ending `json:"ending,omitempty"`
}

// Outlived is a pod of a Job that passed its deadline: a container of its template had ended, and others kept the pod
// running until the controller deleted it.
type Outlived struct {
	Pod string `json:"pod"`
	// Ended is the container that had ended. Exit is its exit, nil if only events of the pod are left.
	Ended string      `json:"ended"`
	Exit  *cause.Exit `json:"exit,omitempty"`
	// Running are the names of the other containers.
	Running []string `json:"running"`
}

// CutShort is a container that ran when its Job passed its deadline, and Pods the number of pods that were stopped then.
type CutShort struct {
	Pod        string `json:"pod"`
	Container  string `json:"container"`
	RanSeconds int64  `json:"ranSeconds"`
	Pods       int32  `json:"pods"`
}

// IndexRule is a rule of the podFailurePolicy that fails an index without a retry.
type IndexRule struct {
	Rule int32  `json:"rule"`
	Name string `json:"name,omitempty"`
}

// WaitsFor is what the terminal condition of a Job waits for: pods that run or terminate, ended pods that the status does not
// have yet, or else the Controller, which is "" for the built-in one.
type WaitsFor struct {
	Running     int32  `json:"running,omitempty"`
	Terminating int32  `json:"terminating,omitempty"`
	Ended       int32  `json:"ended,omitempty"`
	Controller  string `json:"controller,omitempty"`
}
