package analysis

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	batchv1 "k8s.io/api/batch/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/retry"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/typo"
)

// adviceOnProblems is what resolves what is wrong with the Job now.
func (a *situation) adviceOnProblems() (out []explain.Advice) {
	if retry.IsPending(a.job) {
		return []explain.Advice{advise("retry the first Job of the family", a.kubectl("batchjob retry %s", shellWord(retry.RootOf(a.job))))}
	}
	for i := range a.problems {
		out = append(out, a.adviceOnProblem(&a.problems[i])...)
	}
	return out
}

func (a *situation) adviceOnProblem(p *explain.Problem) []explain.Advice {
	if text := startAdvice(p); text != "" {
		return []explain.Advice{advise(text, a.kubectl("describe pod %s", shellWord(p.Pods[0])))}
	}
	if advice, known := podAdvice[p.Kind]; known {
		return a.adviceOnPod(p, advice)
	}
	switch p.Kind {
	case explain.ProblemNotReconciled, explain.ProblemControllerGone, explain.ProblemFinalizerStuck:
		return a.adviceOnController()
	case explain.ProblemSuspended:
		return a.adviceOnSuspended()
	case explain.ProblemContainerFailed:
		return a.adviceOnFailedWithin(p)
	case explain.ProblemCreationRefused:
		return a.adviceOnRefusal(p)
	case explain.ProblemNoParallelism:
		return []explain.Advice{advise("raise parallelism to start pods", a.kubectl(`patch job %s --type merge -p '{"spec":{"parallelism":1}}'`, a.jobWord()))}
	case explain.ProblemNoPodGroup:
		return a.adviceOnScheduling()
	case explain.ProblemNodeGone:
		return a.adviceOnNode(p)
	case explain.ProblemDeleting:
		return a.adviceOnDeletion(p)
	case explain.ProblemInvalidRuleNames:
		return []explain.Advice{advise("fix the rule names: lint shows how, and create checks them", fmt.Sprintf("kubectl get job %s -n %s -o yaml | kubectl batchjob lint -f -", a.jobWord(), shellWord(a.job.Namespace)))}
	}
	return nil
}

// podAdvice is what to look at where one pod stands for a problem; the command gets its
// name.
var podAdvice = map[explain.ProblemKind]explain.Advice{
	explain.ProblemUnschedulable:    advise("compare what the pod requests with what the nodes offer", "describe pod %s"),
	explain.ProblemImagePull:        advise("recreate the Job with the correct image in its pod template, or make this image available", "describe pod %s"),
	explain.ProblemContainerConfig:  advise("create the ConfigMap, Secret or volume that the container refers to; it then starts automatically", "describe pod %s"),
	explain.ProblemCrashLoop:        advise("read its log from before the last restart", "logs %s --previous"),
	explain.ProblemSchedulingGated:  advise("find out what the pod is waiting for", "describe pod %s"),
	explain.ProblemPodPending:       advise("find out what the pod is waiting for", "describe pod %s"),
	explain.ProblemTerminatingStuck: advise("find out what blocks its deletion: a finalizer, or an unresponsive kubelet", "get pod %s -o yaml"),
	explain.ProblemForeignFinalizer: advise("find out who owns the finalizer, and why it has not been removed", "get pod %s -o jsonpath='{.metadata.finalizers}'"),
}

// adviceOnPod is about the first pod that has the problem.
func (a *situation) adviceOnPod(p *explain.Problem, advice explain.Advice) []explain.Advice {
	if len(p.Pods) == 0 {
		return nil
	}
	pod := shellWord(p.Pods[0])
	if c := a.loopOf(p); c != nil && c.NeverStarted() {
		return []explain.Advice{advise(a.startRemedy(c), a.kubectl("describe pod %s", pod))}
	}
	return []explain.Advice{advise(advice.Text, a.kubectl(advice.Command, pod))}
}

// missingVolume is what a kubelet says of a volume that refers to something that is not there.
var missingVolume = regexp.MustCompile(`(configmap|secret|persistentvolumeclaim) "[^"]+" not found`)

// startAdvice is for what keeps a pod from starting and says more than its kind, "" if there is
// none.
func startAdvice(p *explain.Problem) string {
	told := strings.Join(p.Details, " ")
	switch {
	case len(p.Pods) == 0:
		return ""
	case p.Kind == explain.ProblemContainerConfig && (strings.Contains(told, "runAsNonRoot") || strings.Contains(told, "non-root policy")):
		return "run the container as a non-root user: set runAsUser in its securityContext, or use an image with a numeric user other than 0"
	case p.Kind == explain.ProblemPodPending && p.Reason == "FailedMount" && missingVolume.MatchString(told):
		return "create the ConfigMap, Secret or claim that its volumes refer to; it then starts automatically"
	}
	return ""
}

// adviceOnRefusal follows from who refuses the pods.
func (a *situation) adviceOnRefusal(p *explain.Problem) []explain.Advice {
	switch p.Reason {
	case explain.RefusalQuota, explain.RefusalQuotaNeeds:
		return []explain.Advice{advise("check the quota, and free up some of it or raise it", a.kubectl("describe resourcequota"))}
	case explain.RefusalServiceAccount:
		return []explain.Advice{advise("create the ServiceAccount; the controller then retries automatically", a.kubectl("get serviceaccounts"))}
	case explain.RefusalPriorityClass:
		return []explain.Advice{advise("create the PriorityClass; the controller then retries automatically", "kubectl get priorityclasses")}
	case explain.RefusalWebhook, explain.RefusalWebhookDown:
		return []explain.Advice{advise("fix this; the controller then retries automatically", "kubectl get validatingwebhookconfigurations,mutatingwebhookconfigurations")}
	}
	what := "read the message, and recreate the Job with a corrected pod template (it is immutable)"
	switch p.Reason {
	case explain.RefusalForbidden, // by a permission, a RuntimeClass that is missing, a namespace that is being deleted, …
		explain.RefusalOther: // such as an outage of etcd
		what = "resolve what the message names; the controller then retries automatically; to change the pod template, recreate the Job"
	}
	return []explain.Advice{advise(what, a.kubectl("get events --field-selector involvedObject.name=%s", a.jobWord()))}
}

func (a *situation) adviceOnController() []explain.Advice {
	name := ptr.Deref(a.spec.ManagedBy, "")
	switch {
	case a.reconciler.Program != "":
		return []explain.Advice{advise("check whether the controller is running, or start it", "kubectl batchjob controller --leader-elect --replace-builtin")}
	case a.managedBy() == "":
		return []explain.Advice{advise("check whether kube-controller-manager is running", "kubectl get pods -n kube-system -l component=kube-controller-manager")}
	case name == a.OurName:
		return []explain.Advice{advise("check whether the controller is running, or start it", "kubectl batchjob controller")}
	case a.OurName != "" && typo.Distance(name, a.OurName) <= maxTypos:
		return []explain.Advice{advise(fmt.Sprintf("recreate the Job: its managedBy %s looks like a misspelling of %s, and the field is immutable", name, a.OurName), "")}
	}
	return []explain.Advice{advise(fmt.Sprintf("start the controller for managedBy %s; the field is immutable, so recreate the Job to use another controller", name), "")}
}

// maxTypos is how far a misspelled name is from the one that was meant.
const maxTypos = 2

func (a *situation) adviceOnSuspended() []explain.Advice {
	if a.ofKueue() {
		return []explain.Advice{advise("find out why Kueue does not admit it", a.kubectl("get workloads.kueue.x-k8s.io"))}
	}
	if owner := a.managingOwner(); owner != nil {
		return []explain.Advice{advise("check its owner, which resumes it", a.kubectl("get %s %s", strings.ToLower(shellWord(owner.Kind)), shellWord(owner.Name)))}
	}
	return []explain.Advice{advise("resume it", a.kubectl(`patch job %s --type merge -p '{"spec":{"suspend":false}}'`, a.jobWord()))}
}

// adviceOnScheduling is the same whatever the Job asks for: none of it can be changed in a Job.
func (a *situation) adviceOnScheduling() []explain.Advice {
	text := "recreate the Job without managedBy, for the built-in controller, or with your own PodGroup named in spec.template.spec.schedulingGroup"
	if a.spec.Scheduling != nil {
		text += "; without spec.scheduling, its pods are scheduled one by one"
	}
	return []explain.Advice{{Text: text}}
}

func (a *situation) adviceOnNode(p *explain.Problem) []explain.Advice {
	node := ""
	for i := range a.pods {
		if slices.Contains(p.Pods, a.pods[i].Name) {
			node = a.pods[i].Node
		}
	}
	out := []explain.Advice{advise("check whether the node comes back", "kubectl get node "+shellWord(node))}
	return append(out, advise("if the node will not come back, delete its Node object, so that its pods are removed", "kubectl delete node "+shellWord(node)))
}

// adviceOnDeletion is about what holds the Job: its pods, or the finalizer of another controller.
func (a *situation) adviceOnDeletion(p *explain.Problem) []explain.Advice {
	others := slices.DeleteFunc(slices.Clone(p.Finalizers), func(f string) bool {
		return f == metav1.FinalizerDeleteDependents || f == metav1.FinalizerOrphanDependents
	})
	if len(others) > 0 {
		text := fmt.Sprintf("find out who owns %s, and why it has not been removed", strings.Join(others, ", "))
		return []explain.Advice{advise(text, a.kubectl("get job %s -o jsonpath='{.metadata.finalizers}'", a.jobWord()))}
	}
	selector := batchv1.JobNameLabel + "=" + a.job.Name
	if ptr.Deref(a.spec.ManualSelector, false) && a.spec.Selector != nil { // Its pods may lack this label, which may be too short.
		selector = metav1.FormatLabelSelector(a.spec.Selector)
	}
	return []explain.Advice{advise("check which of its pods are left", a.kubectl("get pods -l %s", shellWord(selector)))}
}
