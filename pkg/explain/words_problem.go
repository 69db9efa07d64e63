package explain

import (
	"fmt"
	"slices"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/cause"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/reconcile/rulename"
)

// text is the problem in a sentence, for a Job that r runs.
func (p *Problem) text(now time.Time, r *Reconciler) string {
	return clauses([]string{p.what(now, r), p.note()})
}

// what is the first clause of the text.
func (p *Problem) what(now time.Time, r *Reconciler) string {
	switch p.Kind {
	case ProblemNotReconciled:
		return fmt.Sprintf("nothing has worked on the Job in the %s since it was created", age(now.Sub(p.Since.Time)))
	case ProblemControllerGone:
		return fmt.Sprintf("%s does not seem to run: %s", controllerWord(p.Controller), r.Text)
	case ProblemFinalizerStuck:
		return fmt.Sprintf("%s of the Job still %s the finalizer batch.kubernetes.io/job-tracking, so deleting them does not end",
			times(p.Count, "ended pod", "ended pods"), plural(int(p.Count), "holds", "hold"))
	case ProblemNoPodGroup:
		return p.noPodGroupText()
	case ProblemSuspended:
		return p.suspendedText()
	case ProblemDeleting:
		return p.deletingText()
	case ProblemTerminatingHolds, ProblemTerminatingStuck, ProblemNodeGone:
		return p.terminatingText()
	case ProblemForeignFinalizer:
		return fmt.Sprintf("%s deleted and ended, and %s kept by the %s %s of another controller",
			times(p.Count, "pod is", "pods are"), plural(int(p.Count), "is", "are"), plural(len(p.Finalizers), "finalizer", "finalizers"), strings.Join(p.Finalizers, ", "))
	case ProblemContainerFailed:
		return p.containerFailedText(now)
	}
	if text, known := problemTexts[p.Kind]; known {
		return text
	}
	return p.pendingText()
}

// note is what follows from the problem, "" if that needs no word.
func (p *Problem) note() string {
	switch p.Kind {
	case ProblemNotReconciled:
		if p.Controller == "" {
			return "kube-controller-manager does not seem to run, or its Job controller is switched off"
		}
		return "its managedBy names " + controllerWord(p.Controller) + ", which does not seem to run"
	case ProblemFinalizerStuck:
		return controllerWord(p.Controller) + " should have removed it"
	case ProblemForeignFinalizer:
		return "the Job does not wait for that"
	case ProblemContainerFailed:
		return fmt.Sprintf("%s, and %s not count as failed, while %s%s", plural(int(p.Count), "the pod does not end", "the pods do not end"), plural(int(p.Count), "does", "do"),
			containersText(p.Running), plural(len(p.Running), " still runs", " still run"))
	case ProblemImagePull, ProblemContainerConfig:
		return "that is no failure, so no retry limit ends it"
	case ProblemInvalidRuleNames:
		return "reasons name rules by index"
	case ProblemSuccessImpossible:
		return "the Job ends when all its indexes have"
	case ProblemUnknownMode:
		return "no controller of this version works on the Job"
	}
	return ""
}

// problemTexts are those of problems that are always the same.
var problemTexts = map[ProblemKind]string{
	ProblemNoParallelism:     "parallelism is 0, so no pod is created",
	ProblemUnschedulable:     "no node takes the pod",
	ProblemInvalidRuleNames:  "the names of the failure rules in annotation " + rulename.Annotation + " are not legal, so none of them is used",
	ProblemSuccessImpossible: "no rule of the successPolicy can be met any more",
	ProblemInconsistent:      "the status of the Job is not what its pods say",
}

// controllerWord is who runs Jobs with this managedBy.
func controllerWord(managedBy string) string {
	if managedBy == "" {
		return "the built-in controller"
	}
	return "controller " + managedBy
}

func (p *Problem) noPodGroupText() string {
	who := "its controller"
	if p.Controller != "" {
		who = controllerWord(p.Controller)
	}
	return fmt.Sprintf("no pods are created, as the Job asks for workload-aware scheduling (%s), which %s does not support", p.Asked, who)
}

func (p *Problem) suspendedText() string {
	switch {
	case p.Queue != "":
		return fmt.Sprintf("Kueue holds the Job suspended until there is room in the queue %s", p.Queue)
	case p.Controller == kueue:
		return "Kueue holds the Job suspended"
	case p.Owner != nil:
		return fmt.Sprintf("the Job is suspended (spec.suspend), which is up to its owner %s %s", p.Owner.Kind, p.Owner.Name)
	case p.Manager != "":
		return fmt.Sprintf("the Job is suspended: %s set spec.suspend", p.Manager)
	}
	return "the Job is suspended (spec.suspend)"
}

func (p *Problem) deletingText() string {
	switch {
	case slices.Contains(p.Finalizers, metav1.FinalizerDeleteDependents):
		return "the Job is being deleted, and waits for its pods to go first (foreground deletion)"
	case slices.Contains(p.Finalizers, metav1.FinalizerOrphanDependents):
		return "the Job is being deleted, and its pods are to stay (orphan deletion)"
	}
	return fmt.Sprintf("the Job is being deleted, and waits for the %s %s", plural(len(p.Finalizers), "finalizer", "finalizers"), strings.Join(p.Finalizers, ", "))
}

func (p *Problem) terminatingText() string {
	pods := times(p.Count, "pod is", "pods are") + " terminating"
	switch p.Kind {
	case ProblemNodeGone:
		pods += fmt.Sprintf(" on node %s, which cannot end %s (%s)", p.Node, plural(int(p.Count), "it", "them"), p.Reason)
	case ProblemTerminatingStuck:
		pods += " beyond the grace period"
	}
	switch p.Holds {
	case HoldsEnd:
		return pods + ", and the Job does not end before"
	case HoldsReplacement:
		return pods + ", and its replacement is not created before (podReplacementPolicy Failed)"
	}
	return pods + ", and status.terminating counts it"
}

func (p *Problem) containerFailedText(now time.Time) string {
	exit, since := cause.ExitText(p.Exit.ExitCode, p.Exit.Reason), age(now.Sub(p.Since.Time))
	if p.Count > 1 {
		return fmt.Sprintf("container %s of %d pods ended with %s, the first %s ago", p.Container, p.Count, exit, since)
	}
	return fmt.Sprintf("container %s of pod %s ended with %s %s ago", p.Container, p.Pods[0], exit, since)
}

// pendingText is why pods do not start, or are not created.
func (p *Problem) pendingText() string {
	switch p.Kind {
	case ProblemCreationRefused:
		return "pods of the Job cannot be created: " + refusalTexts[p.Reason]
	case ProblemUnknownMode:
		return fmt.Sprintf("completionMode %s is not known to this version", p.Asked)
	case ProblemSchedulingGated:
		return fmt.Sprintf("the pod waits for its scheduling %s %s to be taken away", plural(len(p.Gates), "gate", "gates"), enumerate(p.Gates, "and"))
	case ProblemImagePull:
		if p.Reason == invalidImageName {
			return fmt.Sprintf("the image of container %s, %s, is not a legal name", p.Container, p.Image)
		}
		return fmt.Sprintf("the image %s of container %s cannot be pulled", p.Image, p.Container)
	case ProblemContainerConfig:
		return fmt.Sprintf("container %s cannot be started (%s)", p.Container, p.Reason)
	case ProblemCrashLoop:
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
	RefusalQuota:          "a ResourceQuota of the namespace is used up",
	RefusalQuotaNeeds:     "a ResourceQuota of the namespace wants requests or limits that the pod template does not have",
	RefusalPodSecurity:    "the Pod Security level of the namespace does not allow the pod template",
	RefusalLimitRange:     "a LimitRange of the namespace does not allow the pod template",
	RefusalServiceAccount: "the service account of the pod template cannot be used",
	RefusalPolicy:         "an admission policy of the cluster denies it",
	RefusalWebhook:        "an admission webhook of the cluster denies it, or does not answer",
	RefusalWebhookDown:    "an admission webhook of the cluster does not answer",
	RefusalForbidden:      "the API server forbids it",
	RefusalInvalid:        "the API server finds the pod template invalid",
	RefusalOther:          "the API server refuses it",
}

// text is one line with the reason for Alive.
func (r *Reconciler) text(now time.Time) string {
	ago := func(t *metav1.Time) string { return age(now.Sub(t.Time)) + " ago" }
	switch r.Sign {
	case SignNeverWorked:
		managedBy := r.ManagedBy
		if managedBy == builtInManagedBy {
			managedBy = ""
		}
		return fmt.Sprintf("nothing has worked on the Job since it was created: is %s running?", controllerWord(managedBy))
	case SignLeaseExpired:
		return fmt.Sprintf("its Lease %s has expired, it was last renewed %s", r.Lease, ago(r.LeaseRenewed))
	case SignLeaseHeld:
		host, _, _ := strings.Cut(r.LeaseHolder, "_") // What follows tells processes of one host apart.
		return fmt.Sprintf("%s holds its Lease, renewed %s", host, ago(r.LeaseRenewed))
	case SignOverdue:
		return fmt.Sprintf("%s ended %s or more and %s not recorded", times(r.Overdue, "pod", "pods"), ago(r.OverdueSince), plural(int(r.Overdue), "is", "are"))
	case SignLastWrite:
		return "last wrote the status " + ago(r.LastWrite)
	}
	return "nothing tells whether it is running"
}
