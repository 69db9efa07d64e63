package words

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/wording"
)

// ToolText describes how a deployment tool created the Job: "pre-install hook of Helm release web".
func ToolText(t *explain.Tool) string {
	from := string(t.Name)
	switch {
	case t.Operator:
		return "made by " + from
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
	only := func(part string) bool {
		return t.IsHook() && !slices.ContainsFunc(t.Hooks, func(hook string) bool { return !strings.Contains(hook, part) })
	}
	switch {
	case t.Name == explain.ToolArgoCD:
		return "the next sync"
	case t.Name == explain.ToolFlux:
		return "the next reconciliation"
	case only("delete"):
		return uninstall
	case only("rollback"):
		return "helm rollback"
	case only("test"):
		return "helm test"
	}
	return "helm upgrade --install"
}

// ChangeSource returns the advice to change the source of a Job that a tool creates.
func ChangeSource(t *explain.Tool) string {
	if t.Operator {
		return fmt.Sprintf("change the configuration of %s or the object that it makes the Job for, not this Job", t.Name)
	}
	source := "the source of its " + whole(t)
	switch {
	case t.Release != "":
		source = "the source of " + t.Kind + " " + t.Release
	case t.Name == explain.ToolFlux:
		source = "its source"
	}
	if t.Name == explain.ToolHelm {
		source = wording.Join(" of release ", "the chart", t.Release) + " or its values"
	}
	if t.IsHook() {
		return fmt.Sprintf("change %s, not this Job: %s creates the hook again at %s", source, t.Name, toolRun(t))
	}
	return fmt.Sprintf("change %s, not this Job; delete the Job before %s, as its pod template cannot be changed", source, toolRun(t))
}

// SkipHook returns the advice to uninstall a release of Helm without a hook that cannot run, "" for other hooks.
func SkipHook(t *explain.Tool) string {
	if t == nil || t.Name != explain.ToolHelm || toolRun(t) != uninstall {
		return ""
	}
	return fmt.Sprintf("to uninstall %s without this hook, run %s --no-hooks: nothing then cleans up what the hook would have", wording.Join(" ", "the release", t.Release), uninstall)
}

// RunHookAgain returns the advice to have the tool run a failed hook again.
func RunHookAgain(t *explain.Tool) string {
	switch {
	case t.Name == explain.ToolHelm && slices.Equal(t.Hooks, []string{"post-delete"}):
		return "Helm has removed the release all the same, and does not run this hook again: do by hand what it would have done, then delete this Job"
	case t.Stays:
		return fmt.Sprintf("after fixing the cause, delete this Job, and run %s again: its helm.sh/hook-delete-policy has Helm keep it, and a second one cannot be created", toolRun(t))
	case t.Name == explain.ToolHelm:
		return fmt.Sprintf("after fixing the cause, in %s if it is there, run %s again: Helm replaces this Job", wording.Join(" of release ", "the chart", t.Release)+" or its values", toolRun(t))
	}
	return fmt.Sprintf("after fixing the cause, have %s run the hook again: %s replaces this Job", t.Name, toolRun(t))
}

// DeleteLeftHook returns the advice to delete a hook that Helm should have deleted.
func DeleteLeftHook(t *explain.Tool) string {
	if t.Stays {
		return fmt.Sprintf("delete it, and raise --timeout: the next %s fails while the Job exists, as its helm.sh/hook-delete-policy lacks before-hook-creation", toolRun(t))
	}
	return "delete it if nobody needs it, and raise --timeout: Helm waits 5m for a hook by default"
}

// FitOwner fills {recreate} in a template of advice: who creates the Job again, with a change that follows.
func FitOwner(template string, o *explain.Owner, t *explain.Tool) string {
	return strings.ReplaceAll(template, "{recreate}", recreate(o, t))
}

func recreate(o *explain.Owner, t *explain.Tool) string {
	switch {
	case o != nil && o.Kind == "CronJob":
		return "have CronJob " + o.Name + " create its Jobs (spec.jobTemplate)"
	case o != nil:
		return fmt.Sprintf("have %s %s create the Job", o.Kind, o.Name)
	case t == nil:
		return "recreate the Job"
	case t.Name == explain.ToolHelm:
		return "have " + wording.Join(" of release ", "the chart", t.Release) + " create the Job"
	}
	return "have " + cmp.Or(wording.Join(" ", t.Kind, t.Release), string(t.Name)) + " create the Job"
}
