package explain

import (
	"slices"
	"strings"
)

// Tool is the deployment tool that creates the Job, as the labels and annotations of the Job say.
type Tool struct {
	Name ToolName `json:"name"`
	// Kind and Release name the object that the Job is a part of: a release of Helm, an Application of Argo CD, or a
	// Kustomization or HelmRelease of Flux; "" if they are unknown.
	Kind    string `json:"kind,omitempty"`
	Release string `json:"release,omitempty"`
	// Hooks are the moments at which the tool runs the Job, such as pre-install; empty if the Job is no hook. Weight is the
	// weight of the hook among others, 0 by default.
	Hooks  []string `json:"hooks,omitempty"`
	Weight int32    `json:"weight,omitempty"`
	// Stays is set if Helm does not delete the Job before it runs the hook again, which then fails: its helm.sh/hook-delete-policy has
	// neither before-hook-creation, the default, nor hook-failed.
	Stays bool `json:"stays,omitempty"`
	// DeletesSucceeded is set if the helm.sh/hook-delete-policy has Helm delete the Job once it has succeeded.
	DeletesSucceeded bool `json:"deletesSucceeded,omitempty"`
	// Source is where users of another tool change what it creates, "" for Helm, Argo CD and Flux. Runs is set if it creates a Job
	// for each of its runs.
	Source string `json:"source,omitempty"`
	Runs   bool   `json:"runs,omitempty"`
	// Settings are the fields of the Source with which its Jobs are changed.
	Settings Settings `json:"-"`
}

// ToolName is the name of a deployment tool.
type ToolName string

// The tools.
const (
	ToolHelm   ToolName = "Helm"
	ToolArgoCD ToolName = "Argo CD"
	ToolFlux   ToolName = "Flux"
)

// Stay is why a complete Job still exists, where that is a question.
type Stay string

// The reasons.
const (
	StayLeft   Stay = "LeftByTool"  // Helm should have deleted it
	StaySoon   Stay = "DeletedSoon" // Helm deletes it once its other hooks have ended
	StayNoTTL  Stay = "NoTTL"       // nothing deletes it, although it has a deadline
	StayByHand Stay = "ByHand"      // made from a CronJob that does not control it, without ttlSecondsAfterFinished
	StayFixed  Stay = "Immutable"   // a tool keeps it, and cannot change its pod template
)

// Hooks that run before the tool creates the objects of the release, or after it has deleted them. Argo CD also runs hooks of
// Helm.
var (
	hooksBefore = []string{"pre-install", "pre-upgrade", "pre-rollback", "PreSync"}
	hooksAfter  = []string{"post-delete", "PostDelete"}
)

// Keeps reports whether the tool keeps the Job, which is no hook, in the cluster: it creates a deleted one again.
func (t *Tool) Keeps() bool {
	return t != nil && !t.IsHook() && (t.Name == ToolArgoCD || t.Kind == "Kustomization")
}

// IsHook reports whether the tool runs the Job at certain moments.
func (t *Tool) IsHook() bool { return t != nil && len(t.Hooks) > 0 }

// OnlyAt reports whether the tool runs the Job only at moments whose names have the word, such as install.
func (t *Tool) OnlyAt(word string) bool {
	return t.IsHook() && !slices.ContainsFunc(t.Hooks, func(hook string) bool { return !strings.Contains(hook, word) })
}

// Before returns the hook that runs before the tool creates the objects of the release; "" if there is none.
func (t *Tool) Before() string { return t.hookOf(hooksBefore) }

// After returns the hook that runs after the tool has deleted the objects of the release; "" if there is none.
func (t *Tool) After() string { return t.hookOf(hooksAfter) }

func (t *Tool) hookOf(list []string) string {
	if t == nil {
		return ""
	}
	if i := slices.IndexFunc(t.Hooks, func(hook string) bool { return slices.Contains(list, hook) }); i >= 0 {
		return t.Hooks[i]
	}
	return ""
}
