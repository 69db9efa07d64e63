package words

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/lazyregexp"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/wording"
)

// ToolText describes how a tool created the Job: "pre-install hook of Helm release web".
func ToolText(t *explain.Tool) string {
	from := string(t.Name)
	switch {
	case t.Release == "":
	case t.Name == explain.ToolHelm:
		from += " release " + t.Release
	default:
		from = t.Kind + " " + t.Release + " of " + from
	}
	if t.IsHook() {
		return wording.Enumerate(t.Hooks, "and") + " hook of " + from
	}
	return from
}

// OwnerText names the owner of the Job, and says so if a user created the Job from its template.
func OwnerText(j *explain.Job) string {
	text := j.Owner.Kind + " " + j.Owner.Name
	if j.Manual {
		text += ", created by hand"
	}
	return text
}

// whole names the object that the Job is a part of.
func whole(t *explain.Tool) string {
	return cmp.Or(t.Kind, map[explain.ToolName]string{explain.ToolHelm: "release", explain.ToolArgoCD: "Application"}[t.Name], "release")
}

// hookOrder says that the tool runs the hook while an object that it needs does not exist, "" for other problems.
func hookOrder(p *explain.Problem) string {
	t := p.Start.Hook
	if hook := t.Before(); hook != "" {
		does := map[string]string{"pre-install": "creates", "pre-upgrade": "updates", "pre-rollback": "restores"}[hook]
		return fmt.Sprintf("%s runs this %s hook before it %s the other objects of the %s", t.Name, hook, cmp.Or(does, "syncs"), whole(t))
	}
	if hook := t.After(); hook != "" {
		return fmt.Sprintf("%s runs this %s hook after it has deleted the other objects of the %s", t.Name, hook, whole(t))
	}
	return ""
}

// AddHook returns advice on an object that a hook needs and that does not exist when the tool runs the hook.
func AddHook(t *explain.Tool, kind, name string) string {
	order, source, hook := "helm.sh/hook-weight", "the chart", cmp.Or(t.Before(), t.After())
	if t.Name == explain.ToolArgoCD {
		order, source = "argocd.argoproj.io/sync-wave", "the "+whole(t)
	}
	return fmt.Sprintf("if %s has %s %s, make it a %s hook, too, with %s below %d, so that it exists before this Job; otherwise create it before %s",
		source, kind, name, hook, order, t.Weight, toolRun(t))
}

// TokenGone and RenewTokenOfPod are advice on the Secret of a ServiceAccount.
const (
	TokenGone       = "this Secret was the generated token of ServiceAccount %s, which may have been deleted or created again: "
	RenewTokenOfPod = "delete the pod, and the Job's next one gets the current token"
)

// RenewAccount returns the advice on a pod whose node cannot mount the token of a ServiceAccount, which may be gone.
func RenewAccount(account string, t *explain.Tool) string {
	text := "this volume has the token of ServiceAccount " + account + ", which may have been deleted or created again: "
	if t.IsHook() {
		return text + RenewToken(t) + "; if the account is a hook, too, leave hook-succeeded out of its delete policy"
	}
	return text + "create the account if it does not exist, as no new pod can be created without it, and then " + RenewTokenOfPod
}

// RenewToken returns the advice on a generated token that the template of the Job names.
func RenewToken(t *explain.Tool) string {
	switch {
	case t == nil:
		return "{recreate} without this volume, as each pod gets a token by itself"
	case t.Name == explain.ToolHelm:
		return "delete this Job, and " + runAgain(t)
	}
	return fmt.Sprintf("delete this Job, and have %s create it again", t.Name)
}

// HookTooEarly returns advice on a hook that runs before the tool creates the other objects, and that needs a server; "" for others.
func HookTooEarly(t *explain.Tool, server string) string {
	hook := t.Before()
	after := map[string]string{"pre-install": "post-install", "pre-upgrade": "post-upgrade", "PreSync": "PostSync"}[hook]
	if after == "" {
		return ""
	}
	return fmt.Sprintf("if %s is a part of the same %s, run this hook as %s: %s runs a %s hook before it creates the other objects", server, whole(t), after, t.Name, hook)
}

// uninstall is the command that runs hooks of a deletion.
const uninstall = "helm uninstall"

// toolRun names the command or the action with which the tool runs the Job. A hook of several moments most likely ran at an
// install or upgrade.
func toolRun(t *explain.Tool) string {
	switch {
	case t.Source != "":
		return string(t.Name) + " creates it again"
	case t.After() == "PostDelete":
		return "the deletion of its Application, which waits for it"
	case t.Name == explain.ToolArgoCD:
		return "the next sync"
	case t.Name == explain.ToolFlux:
		return "the next reconciliation"
	}
	for _, word := range []string{"delete", "rollback", "test", "install", "upgrade"} {
		if t.OnlyAt(word) {
			return "helm " + strings.Replace(word, "delete", "uninstall", 1)
		}
	}
	return "helm upgrade --install"
}

// asInstalled says why no change of the chart helps a hook of a deletion.
const asInstalled = "a change of the chart helps only later installations: " + uninstall + " runs the hook of the release as it was last installed or upgraded"

// atInstall returns what runs a hook of Helm that runs only at helm install again, "" for other Jobs: the release exists by then, even if
// its installation failed, and an upgrade does not run such a hook.
func atInstall(t *explain.Tool) string {
	if t.Name != explain.ToolHelm || !t.OnlyAt("install") {
		return ""
	}
	var more []string
	for _, hook := range t.Hooks {
		more = append(more, strings.Replace(hook, "install", "upgrade", 1))
	}
	return fmt.Sprintf("have helm upgrade run this hook, too (%s in its helm.sh/hook), or uninstall %s and install it again: Helm runs the hook only at helm install",
		wording.Enumerate(more, "and"), strings.TrimSpace("the release "+t.Release))
}

// runAgain returns what runs a Job of Helm again.
func runAgain(t *explain.Tool) string {
	return cmp.Or(atInstall(t), "run "+toolRun(t)+" again")
}

// sourceOf names what a user changes to change the objects that the tool creates, with the setting for a change.
func sourceOf(t *explain.Tool, c explain.Change) string {
	switch {
	case t.Source != "":
		return wording.Join(" in ", t.Settings[c], t.Source)
	case t.Name == explain.ToolHelm:
		return wording.Join(" of release ", "the chart", t.Release) + " or its values"
	case t.Release != "":
		return "the source of " + t.Kind + " " + t.Release
	case t.Name == explain.ToolFlux:
		return "its source"
	}
	return "the source of its " + whole(t)
}

// ChangeSource returns the advice to change the source of a Job that a tool creates, and that may have ended; to says what for, or is "".
func ChangeSource(to string, t *explain.Tool, c explain.Change, ended bool) string {
	change := fmt.Sprintf("%schange %s, not this Job", to, sourceOf(t, c))
	switch again := atInstall(t); {
	case again != "":
		return change + ", and " + again
	case toolRun(t) == uninstall && t.Stays:
		return asInstalled + "; delete this Job before you run it again, as its helm.sh/hook-delete-policy has Helm keep it"
	case toolRun(t) == uninstall:
		return asInstalled
	case t.OnlyAt("test"):
		return change + ", and run helm upgrade before helm test, which creates the hook again"
	case t.IsHook():
		return fmt.Sprintf("%s: %s creates the hook again at %s", change, t.Name, toolRun(t))
	case t.Runs:
		return fmt.Sprintf("%s: %s creates the Job of its next run with it", change, t.Name)
	}
	if ended {
		return change + "; " + ReplaceEnded(t)
	}
	return fmt.Sprintf("%s; delete the Job before %s, as its pod template cannot be changed", change, toolRun(t))
}

// ReplaceEnded returns the advice to delete a Job that has ended, and that is no hook, before its tool creates it again.
func ReplaceEnded(t *explain.Tool) string {
	return fmt.Sprintf("delete the Job before %s: one that has ended neither runs again nor takes another pod template", toolRun(t))
}

// ChangeCronJobSource returns the advice to change a CronJob where it comes from: an owner, or a tool.
func ChangeCronJobSource(o *explain.Owner, t *explain.Tool, c explain.Change) string {
	if o != nil {
		return fmt.Sprintf("make this change in %s %s, whose controller would undo it in the CronJob", o.Kind, o.Name)
	}
	return fmt.Sprintf("make this change in %s, too: %s may undo one that only the CronJob has", sourceOf(t, c), t.Name)
}

// ChangeCronJob returns the advice to change the CronJob of a Job, which t creates, nil if that is unknown; a Job that ended long ago may only
// be kept. certain is whether the change is in the pod template.
func ChangeCronJob(o *explain.Owner, t *explain.Tool, c explain.Change, kept, certain bool) string {
	text := fmt.Sprintf(changeCronJob, o.Name)
	if !certain {
		text = ToChange + text
	}
	if t != nil {
		text += "; " + ChangeCronJobSource(nil, t, c)
	}
	if kept && !o.Uncontrolled {
		text += "; " + DeleteKeptJob
	}
	return text
}

// RaiseHelmTimeout returns advice on a hook of Helm that took so long that Helm may have given up.
func RaiseHelmTimeout(t *explain.Tool, took time.Duration) string {
	return fmt.Sprintf("if Helm has given up, give it a --timeout above %s, and %s", wording.Age(took), runAgain(t))
}

// SkipHook returns the advice to uninstall a release of Helm without a hook that cannot run, "" for other hooks: Helm removes the release
// before it runs a post-delete hook.
func SkipHook(t *explain.Tool) string {
	if t == nil || t.Name != explain.ToolHelm || toolRun(t) != uninstall || t.OnlyAt("post-delete") {
		return ""
	}
	return fmt.Sprintf("to uninstall %s without this hook, run %s --no-hooks: nothing then cleans up what the hook would have", wording.Join(" ", "the release", t.Release), uninstall)
}

// RunToolAgain returns the advice to have the tool create a failed Job again: a hook, that of a run, or one that it keeps in the cluster.
func RunToolAgain(t *explain.Tool) string {
	fixed := "after fixing the cause (what the Job has comes from " + sourceOf(t, "") + "), "
	if toolRun(t) == uninstall {
		fixed = "after fixing the cause outside of the Job (" + asInstalled + "), "
	}
	switch {
	case t.Keeps(), t.After() == "PostDelete":
		return fixed + fmt.Sprintf("delete this Job: %s creates it again at %s", t.Name, toolRun(t))
	case t.Runs:
		return fmt.Sprintf("after fixing the cause, have %s start a new run: it does not wait for a copy of this Job", t.Name)
	case t.Source != "":
		return fmt.Sprintf("after fixing the cause, delete this Job, and have %s create it again: it may ignore a copy", t.Name)
	case t.Name == explain.ToolHelm && slices.Equal(t.Hooks, []string{"post-delete"}):
		return "Helm has removed the release all the same, and does not run this hook again: do by hand what it would have done, then delete this Job"
	case t.Stays:
		return fixed + fmt.Sprintf("delete this Job, which its helm.sh/hook-delete-policy has Helm keep, so that a second one cannot be created; then %s", runAgain(t))
	case t.Name == explain.ToolHelm && atInstall(t) == "":
		return fixed + fmt.Sprintf("%s: Helm replaces this Job", runAgain(t))
	case t.Name == explain.ToolHelm:
		return fixed + runAgain(t)
	}
	return fixed + fmt.Sprintf("have %s run the hook again: %s replaces this Job", t.Name, toolRun(t))
}

// DeleteLeftHook returns the advice to delete a hook that Helm should have deleted, or should delete soon.
func DeleteLeftHook(t *explain.Tool, stay explain.Stay) string {
	remove := map[explain.Stay]string{explain.StayLeft: "delete it", explain.StaySoon: "if it stays, delete it"}[stay]
	if t.Stays {
		return fmt.Sprintf("%s, and add before-hook-creation to its helm.sh/hook-delete-policy: without it, the next %s fails while the Job exists; a longer --timeout lets Helm delete it",
			remove, toolRun(t))
	}
	return remove + " if nobody needs it, and raise --timeout: Helm waits 5m for a hook by default"
}

// ReplaceTemplate returns the advice on a complete Job whose pod template the tool cannot change.
func ReplaceTemplate(t *explain.Tool) string {
	replaces := map[string]string{"Application": "argocd.argoproj.io/sync-options: Replace=true,Force=true", "Kustomization": "kustomize.toolkit.fluxcd.io/force: enabled"}[whole(t)]
	if replaces == "" {
		return fmt.Sprintf("delete it before %s changes its pod template, which is immutable, or make it a hook with the delete policy before-hook-creation, which Helm replaces", toolRun(t))
	}
	return fmt.Sprintf("delete it before %s changes its pod template, which is immutable, or set the annotation %s in it, so that %s replaces it", toolRun(t), replaces, t.Name)
}

// LeaveOutTTL returns the advice on a Job that something creates again each time its TTL has deleted it.
func LeaveOutTTL(t *explain.Tool) string {
	who := "a tool that keeps the Job in the cluster, such as Argo CD, Flux or Terraform, creates a deleted one again"
	switch {
	case t == nil || t.Name == explain.ToolHelm:
	case t.Name == explain.ToolArgoCD:
		who = "Argo CD creates a deleted Job again, or shows its Application as OutOfSync"
	default:
		who = string(t.Name) + " creates a deleted Job again"
	}
	return "leave out ttlSecondsAfterFinished: " + who + "; to run it once for each change, make it a hook with a delete policy (Helm, Argo CD)"
}

// KeepRunning returns the advice to change the source of a Job that the tool creates suspended, or to find what suspends those of an operator.
func KeepRunning(t *explain.Tool) string {
	if t.Runs {
		return fmt.Sprintf("find out what suspends it: %s, or a webhook, as that of Kueue suspends Jobs that name no queue (manageJobsWithoutQueueName: true); until then, the next Job of %s is suspended, too", sourceOf(t, ""), t.Name)
	}
	return fmt.Sprintf("take suspend: true out of %s, too: otherwise, %s creates the Job suspended again", sourceOf(t, ""), t.Name)
}

// whileOpen matches what advice has for a Job that may still succeed.
var whileOpen = lazyregexp.New(`\{\?([^{}]*)\}`)

// Fit fills {recreate} in a template of advice: who creates the Job again, with a change that follows. What is in {?} is left out unless
// the outcome of the Job is open.
func Fit(template string, o *explain.Owner, t *explain.Tool, c explain.Change, open bool) string {
	rest := map[bool]string{true: "$1"}[open]
	return strings.ReplaceAll(whileOpen.ReplaceAllString(template, rest), "{recreate}", recreate(o, t, c))
}

func recreate(o *explain.Owner, t *explain.Tool, c explain.Change) string {
	switch {
	case o != nil && o.Kind == "CronJob":
		return "have CronJob " + o.Name + " create its Jobs (spec.jobTemplate)"
	case o != nil:
		return fmt.Sprintf("have %s %s create the Job", o.Kind, o.Name) + through(o.Settings, o.Source, c)
	case t == nil:
		return "recreate the Job"
	case t.Name == explain.ToolHelm:
		later := map[bool]string{true: "for later installations, "}[toolRun(t) == uninstall]
		return later + "have " + wording.Join(" of release ", "the chart", t.Release) + " create the Job"
	}
	return "have " + cmp.Or(wording.Join(" ", t.Kind, t.Release), string(t.Name)) + " create the Job" + through(t.Settings, t.Source, c)
}

// through names the setting for a change between what creates the Job and the change, "" if it is unknown.
func through(settings explain.Settings, source string, c explain.Change) string {
	if settings[c] == "" {
		return ""
	}
	return ", through " + wording.Join(" in ", settings[c], source) + ","
}
