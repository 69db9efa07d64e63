package words

import (
	"fmt"
	"slices"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/cause"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/reconcile/rulename"
)

// ProblemText is the problem in a sentence, for a Job that r runs.
func ProblemText(p *explain.Problem, now time.Time, r *explain.Reconciler) string {
	return Clauses([]string{ProblemWhat(p, now, r), ProblemNote(p)})
}

// ProblemWhat is the first clause of the text.
func ProblemWhat(p *explain.Problem, now time.Time, r *explain.Reconciler) string {
	switch p.Kind {
	case explain.ProblemNotReconciled:
		return fmt.Sprintf("nothing has worked on the Job in the %s since it was created", Age(now.Sub(p.Since.Time)))
	case explain.ProblemControllerGone:
		return fmt.Sprintf("%s does not seem to run: %s", ControllerWord(p.Controller), r.Text)
	case explain.ProblemFinalizerStuck:
		return fmt.Sprintf("%s of the Job still %s the finalizer batch.kubernetes.io/job-tracking, so deleting them does not end",
			Times(p.Count, "ended pod", "ended pods"), Plural(int(p.Count), "holds", "hold"))
	case explain.ProblemNoPodGroup:
		return noPodGroupText(p)
	case explain.ProblemSuspended:
		return suspendedText(p)
	case explain.ProblemDeleting:
		return deletingText(p)
	case explain.ProblemTerminatingHolds, explain.ProblemTerminatingStuck, explain.ProblemNodeGone:
		return terminatingText(p)
	case explain.ProblemForeignFinalizer:
		return fmt.Sprintf("%s deleted and ended, and %s kept by the %s %s of another controller",
			Times(p.Count, "pod is", "pods are"), Plural(int(p.Count), "is", "are"), Plural(len(p.Finalizers), "finalizer", "finalizers"), strings.Join(p.Finalizers, ", "))
	case explain.ProblemContainerFailed:
		return containerFailedText(p, now)
	}
	if text, known := problemTexts[p.Kind]; known {
		return text
	}
	return pendingText(p)
}

// ProblemNote is what follows from the problem, "" if that needs no word.
func ProblemNote(p *explain.Problem) string {
	switch p.Kind {
	case explain.ProblemNotReconciled:
		if p.Controller == "" {
			return "kube-controller-manager does not seem to run, or its Job controller is switched off"
		}
		return "its managedBy names " + ControllerWord(p.Controller) + ", which does not seem to run"
	case explain.ProblemFinalizerStuck:
		return ControllerWord(p.Controller) + " should have removed it"
	case explain.ProblemForeignFinalizer:
		return "the Job does not wait for that"
	case explain.ProblemContainerFailed:
		return fmt.Sprintf("%s, and %s not count as failed, while %s%s", Plural(int(p.Count), "the pod does not end", "the pods do not end"), Plural(int(p.Count), "does", "do"),
			ContainersText(p.Running), Plural(len(p.Running), " still runs", " still run"))
	case explain.ProblemImagePull, explain.ProblemContainerConfig:
		return "that is no failure, so no retry limit ends it"
	case explain.ProblemInvalidRuleNames:
		return "reasons name rules by index"
	case explain.ProblemSuccessImpossible:
		return "the Job ends when all its indexes have"
	case explain.ProblemUnknownMode:
		return "no controller of this version works on the Job"
	}
	return ""
}

// problemTexts are those of problems that are always the same.
var problemTexts = map[explain.ProblemKind]string{
	explain.ProblemNoParallelism:     "parallelism is 0, so no pod is created",
	explain.ProblemUnschedulable:     "no node takes the pod",
	explain.ProblemInvalidRuleNames:  "the names of the failure rules in annotation " + rulename.Annotation + " are not legal, so none of them is used",
	explain.ProblemSuccessImpossible: "no rule of the successPolicy can be met any more",
	explain.ProblemInconsistent:      "the status of the Job is not what its pods say",
}

// ControllerWord is who runs Jobs with this managedBy.
func ControllerWord(managedBy string) string {
	if managedBy == "" {
		return "the built-in controller"
	}
	return "controller " + managedBy
}

func noPodGroupText(p *explain.Problem) string {
	who := "its controller"
	if p.Controller != "" {
		who = ControllerWord(p.Controller)
	}
	return fmt.Sprintf("no pods are created, as the Job asks for workload-aware scheduling (%s), which %s does not support", p.Asked, who)
}

func suspendedText(p *explain.Problem) string {
	switch {
	case p.Queue != "":
		return fmt.Sprintf("Kueue holds the Job suspended until there is room in the queue %s", p.Queue)
	case p.Controller == explain.Kueue:
		return "Kueue holds the Job suspended"
	case p.Owner != nil:
		return fmt.Sprintf("the Job is suspended (spec.suspend), which is up to its owner %s %s", p.Owner.Kind, p.Owner.Name)
	case p.Manager != "":
		return fmt.Sprintf("the Job is suspended: %s set spec.suspend", p.Manager)
	}
	return "the Job is suspended (spec.suspend)"
}

func deletingText(p *explain.Problem) string {
	switch {
	case slices.Contains(p.Finalizers, metav1.FinalizerDeleteDependents):
		return "the Job is being deleted, and waits for its pods to go first (foreground deletion)"
	case slices.Contains(p.Finalizers, metav1.FinalizerOrphanDependents):
		return "the Job is being deleted, and its pods are to stay (orphan deletion)"
	}
	return fmt.Sprintf("the Job is being deleted, and waits for the %s %s", Plural(len(p.Finalizers), "finalizer", "finalizers"), strings.Join(p.Finalizers, ", "))
}

func terminatingText(p *explain.Problem) string {
	pods := Times(p.Count, "pod is", "pods are") + " terminating"
	switch p.Kind {
	case explain.ProblemNodeGone:
		pods += fmt.Sprintf(" on node %s, which cannot end %s (%s)", p.Node, Plural(int(p.Count), "it", "them"), p.Reason)
	case explain.ProblemTerminatingStuck:
		pods += " beyond the grace period"
	}
	switch p.Holds {
	case explain.HoldsEnd:
		return pods + ", and the Job does not end before"
	case explain.HoldsReplacement:
		return pods + ", and its replacement is not created before (podReplacementPolicy Failed)"
	}
	return pods + ", and status.terminating counts it"
}

func containerFailedText(p *explain.Problem, now time.Time) string {
	exit, since := cause.ExitText(p.Exit.ExitCode, p.Exit.Reason), Age(now.Sub(p.Since.Time))
	if p.Count > 1 {
		return fmt.Sprintf("container %s of %d pods ended with %s, the first %s ago", p.Container, p.Count, exit, since)
	}
	return fmt.Sprintf("container %s of pod %s ended with %s %s ago", p.Container, p.Pods[0], exit, since)
}

// pendingText is why pods do not start, or are not created.
func pendingText(p *explain.Problem) string {
	switch p.Kind {
	case explain.ProblemCreationRefused:
		return "pods of the Job cannot be created: " + refusalTexts[p.Reason]
	case explain.ProblemUnknownMode:
		return fmt.Sprintf("completionMode %s is not known to this version", p.Asked)
	case explain.ProblemSchedulingGated:
		return fmt.Sprintf("the pod waits for its scheduling %s %s to be taken away", Plural(len(p.Gates), "gate", "gates"), Enumerate(p.Gates, "and"))
	case explain.ProblemImagePull:
		if p.Reason == explain.InvalidImageName {
			return fmt.Sprintf("the image of container %s, %s, is not a legal name", p.Container, p.Image)
		}
		return fmt.Sprintf("the image %s of container %s cannot be pulled", p.Image, p.Container)
	case explain.ProblemContainerConfig:
		return fmt.Sprintf("container %s cannot be started (%s)", p.Container, p.Reason)
	case explain.ProblemCrashLoop:
		return fmt.Sprintf("container %s fails again and again, and is restarted in its pod (restartPolicy OnFailure)", p.Container)
	}
	text := "the pod has a node and has not started"
	switch {
	case p.Node == "" && !p.Scheduled:
		text = "no scheduler has looked at the pod: does the one that schedulerName names run?"
	case p.Node == "":
		text = "the pod has no node"
	}
	if p.Reason != "" {
		text += " (" + p.Reason + ")"
	}
	return text
}

// refusalTexts say who refuses pods, and why.
var refusalTexts = map[string]string{
	explain.RefusalQuota:          "a ResourceQuota of the namespace is used up",
	explain.RefusalQuotaNeeds:     "a ResourceQuota of the namespace wants requests or limits that the pod template does not have",
	explain.RefusalPodSecurity:    "the Pod Security level of the namespace does not allow the pod template",
	explain.RefusalLimitRange:     "a LimitRange of the namespace does not allow the pod template",
	explain.RefusalServiceAccount: "the service account of the pod template cannot be used",
	explain.RefusalPolicy:         "an admission policy of the cluster denies it",
	explain.RefusalWebhook:        "an admission webhook of the cluster denies it, or does not answer",
	explain.RefusalWebhookDown:    "an admission webhook of the cluster does not answer",
	explain.RefusalForbidden:      "the API server forbids it",
	explain.RefusalInvalid:        "the API server finds the pod template invalid",
	explain.RefusalOther:          "the API server refuses it",
}

// ReconcilerText is one line with the reason for Alive.
func ReconcilerText(r *explain.Reconciler, now time.Time) string {
	ago := func(t *metav1.Time) string { return Age(now.Sub(t.Time)) + " ago" }
	switch r.Sign {
	case explain.SignNeverWorked:
		managedBy := r.ManagedBy
		if managedBy == explain.BuiltInManagedBy {
			managedBy = ""
		}
		return fmt.Sprintf("nothing has worked on the Job since it was created: is %s running?", ControllerWord(managedBy))
	case explain.SignLeaseExpired:
		return fmt.Sprintf("its Lease %s has expired, it was last renewed %s", r.Lease, ago(r.LeaseRenewed))
	case explain.SignLeaseHeld:
		host, _, _ := strings.Cut(r.LeaseHolder, "_") // What follows tells processes of one host apart.
		return fmt.Sprintf("%s holds its Lease, renewed %s", host, ago(r.LeaseRenewed))
	case explain.SignOverdue:
		return fmt.Sprintf("%s ended %s or more and %s not recorded", Times(r.Overdue, "pod", "pods"), ago(r.OverdueSince), Plural(int(r.Overdue), "is", "are"))
	case explain.SignLastWrite:
		return "last wrote the status " + ago(r.LastWrite)
	}
	return "nothing tells whether it is running"
}
