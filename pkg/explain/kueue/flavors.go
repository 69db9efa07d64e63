package kueue

import (
	"cmp"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/wording"
)

// Shortage is a resource without enough unused quota, with the additional amount needed, "" if that is unknown.
type Shortage struct {
	Resource string `json:"resource"`
	Missing  string `json:"missing,omitempty"`
}

func (s *Shortage) text() string {
	if s.Missing == "" {
		return s.Resource
	}
	return s.Resource + " (" + s.Missing + " more needed)"
}

// FlavorReason is the reason against a flavor, or against all.
type FlavorReason struct {
	Kind HoldKind `json:"kind"`
	// Resource and Flavor identify the quota. Missing is the additional amount needed (QuotaInUse), and Most the maximum
	// available (QuotaTooSmall), as Kueue writes them; "" if it does not. For NoDomains, Resource is the label of the nodes.
	Flavor   string `json:"flavor,omitempty"`
	Resource string `json:"resource,omitempty"`
	Missing  string `json:"missing,omitempty"`
	Most     string `json:"most,omitempty"`
	// Taint is the taint that the pods do not tolerate: key=value:effect. Also are the other resources that lack unused quota.
	Taint string     `json:"taint,omitempty"`
	Also  []Shortage `json:"also,omitempty"`
}

// text returns the reason as a clause.
func (r *FlavorReason) text(selector string) string {
	h := Hold{FlavorReason: *r, Selector: selector}
	return h.fill(h.row().other)
}

// shortage matches a resource, a flavor and the amount that is missing.
var shortage = regexp.MustCompile(unusedQuota)

// addShortages adds the other resources that Kueue's message names for the flavor.
func (h *Hold) addShortages() {
	if h.Kind != QuotaInUse && h.Kind != Preempting {
		return
	}
	for _, m := range shortage.FindAllStringSubmatch(h.Message, -1) {
		also := Shortage{Resource: m[1], Missing: m[3]}
		seen := also.Resource == h.Resource || slices.ContainsFunc(h.Also, func(s Shortage) bool { return s.Resource == also.Resource })
		if strings.TrimRight(m[2], ".") == h.Flavor && !seen {
			h.Also = append(h.Also, also)
		}
	}
}

// addOthers adds the reasons against the other flavors, which are alternatives: one for each.
func (h *Hold) addOthers() {
	seen := map[string]bool{h.Flavor: true}
	for i := range holds {
		known := &holds[i]
		if known.other == "" {
			continue
		}
		for _, match := range known.pattern.FindAllStringSubmatch(h.Message, -1) {
			other := Hold{Message: h.Message}
			other.read(known, match)
			if seen[other.Flavor] || other.Flavor == "" {
				continue
			}
			seen[other.Flavor] = true
			other.addShortages()
			h.Others = append(h.Others, other.FlavorReason)
		}
	}
}

// maxOthers is the maximum number of other flavors in a text.
const maxOthers = 3

// Note returns the reasons against the other flavors as a clause, "" for none.
func (h *Hold) Note() string {
	var all []string
	for i := range h.Others {
		all = append(all, h.Others[i].text(h.Selector))
	}
	if n := len(all) - maxOthers; n > 0 {
		all = append(all[:maxOthers], wording.Plural(int32(n), "other flavor does not fit either", "other flavors do not fit either"))
	}
	return strings.Join(all, ", ")
}

// shortages names the resources that lack unused quota, and the flavor.
func (h *Hold) shortages() string {
	first := Shortage{h.Resource, h.Missing}
	if len(h.Also) == 0 {
		missing, _ := strings.CutPrefix(first.text(), h.Resource)
		return h.Resource + " in flavor " + h.Flavor + missing
	}
	all := []string{first.text()}
	for i := range h.Also {
		all = append(all, h.Also[i].text())
	}
	return wording.Enumerate(all, "and") + " in flavor " + h.Flavor
}

// exclusion matches a reason of Kueue against nodes of a topology, with their number.
var exclusion = regexp.MustCompile(`(?:(resource|taint) "([^"]+)"|(nodeSelector|affinity|topologyDomain)): (\d+)`)

// excluded returns why nodes of the topology are excluded, "" if Kueue does not say so.
func (h *Hold) excluded() string {
	_, list, _ := strings.Cut(h.Message, "; excluded: ")
	var all []string
	for _, m := range exclusion.FindAllStringSubmatch(list, -1) {
		what := map[string][2]string{"resource": {"lacks free ", "lack free "}, "taint": {"has taint ", "have taint "}, "": {"does not match its ", "do not match its "}}[m[1]]
		n, _ := strconv.Atoi(m[4])
		all = append(all, m[4]+" "+wording.Form(n, what[0], what[1])+m[2]+m[3])
	}
	if len(all) == 0 {
		return ""
	}
	return ": of its nodes, " + wording.Enumerate(all, "and")
}

// roomier returns with which other changes the pods fit into the topology: preferred domains do not help if no node has room.
func (h *Hold) roomier() string {
	for _, m := range exclusion.FindAllStringSubmatch(h.Message, -1) {
		switch {
		case m[1] == "taint":
			return ", or with a toleration for the taint " + m[2]
		case strings.Contains(h.Message, "Total nodes: "+m[4]+";"):
			return ""
		case m[3] != "" && m[3] != "topologyDomain":
			return ", or with another " + m[3]
		}
	}
	if h.Resource == "slice" {
		return ", or with another podset-slice-size or podset-slice-required-topology in the annotations of its pod template: each slice has to fit into one domain"
	}
	return "; with the annotation kueue.x-k8s.io/podset-preferred-topology in place of podset-required-topology, its pods need not fit into one domain"
}

// fit says how many pods, or slices of pods, have room in the topology.
func (h *Hold) fit() string {
	if h.Most == "" {
		return "none of its " + h.Missing + " " + h.Resource + "s"
	}
	return "only " + h.Most + " of its " + h.Missing + " " + h.Resource + "s"
}

// isUneven reports whether the pods are not enough for whole slices.
func (t *Topology) isUneven() bool { return t.SliceSize > 1 && t.Count%t.SliceSize != 0 }

// places says for how many pods there are places in the topology, and why there are no more if that is known.
func (t *Topology) places() string {
	switch {
	case t == nil:
		return ""
	case t.isUneven():
		return fmt.Sprintf("places in its topology for only %d of %d pods, as %d is no multiple of the slice size %d", t.Placed, t.Count, t.Count, t.SliceSize)
	}
	return fmt.Sprintf("places in its topology for only %d of %d pods", t.Placed, t.Count)
}

// morePlaces returns advice on pods without a place in the topology.
func (t *Topology) morePlaces() string {
	if t == nil || !t.isUneven() {
		return "compare the topologyAssignment of the Workload with the nodes that are left, and have Kueue place the pods again: delete the Workload, or {recreate} with fewer pods"
	}
	less := t.Count - t.Count%t.SliceSize
	few := ""
	if less > 0 {
		few = fmt.Sprintf("%d or ", less)
	}
	return fmt.Sprintf("waiting does not help: {recreate} with a number of pods (parallelism) that is a multiple of %d, such as %s%d, or with another size in the annotation kueue.x-k8s.io/podset-slice-size of the pod template",
		t.SliceSize, few, less+t.SliceSize)
}

// fill replaces the details in braces in a template.
func (h *Hold) fill(template string) string {
	most, topology, level := "", "its topology", wording.Join(" ", "the topology level", h.Resource)
	if h.Most != "" {
		most = " (at most " + h.Most + ")"
	}
	if h.Flavor != "" {
		topology = "flavor " + h.Flavor
	}
	return wording.Insert(template, "{selector}", cmp.Or(h.Selector, "nodeSelector or affinity"), "{taint}", h.Taint, "{resource}", h.Resource, "{flavor}", h.Flavor, "{shortages}", h.shortages(),
		"{(most)}", most, "{topology}", topology, "{level}", level, "{name}", h.QueueName, "{fit}", h.fit(), "{(excluded)}", h.excluded(), "{roomier}", h.roomier(),
		"{places}", h.Topology.places(), "{morePlaces}", h.Topology.morePlaces())
}
