package meaning

import (
	"cmp"
	"strings"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/lazyregexp"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/wording"
)

// poolRow is one kind of reason why a NodePool of Karpenter has no node for a pod.
type poolRow struct {
	pattern *lazyregexp.Regexp
	// text follows the NodePool; advice is about a single reason. $1 is the first group.
	text, advice string
}

// poolRows are in the reverse order of Karpenter's checks: the NodePool that passed most of them is the one that is meant for the pod.
var poolRows = []poolRow{
	{
		lazyregexp.New(`had enough resources,? had a required offering`),
		"has instance types that fit, but none of them in a zone and of a capacity type that it may use",
		"allow more zones, capacity types (spot, on-demand) or instance types in the NodePool (spec.template.spec.requirements): the cloud may have none of these left",
	},
	{
		lazyregexp.New(`met the scheduling requirements(?: or had a required offering)?(?:\)?$|, requirements=)|met all requirements`),
		"has no instance type that meets the demands of the pod",
		"compare nodeSelector and affinity of the pod, and the zones of its volumes, with the requirements of the NodePool (spec.template.spec.requirements)",
	},
	{
		lazyregexp.New(`no instance type satisfied resources (\{[^}]*\})|enough resources.* resources=(\{[^}]*\})|had enough resources|has enough resources`),
		"has no instance type with enough resources$1",
		"lower what the pod requests, with what DaemonSets add, or allow larger instance types in the NodePool (spec.template.spec.requirements)",
	},
	{
		lazyregexp.New(`unsatisfiable topology constraint for [\w -]+, key=([^\s,]+)`),
		"cannot satisfy a rule of the pod by $1",
		"compare the topology spread constraints and affinities of the pod by $1 with where the NodePool may create nodes, and with the zones of the pod's volumes",
	},
	{
		lazyregexp.New(`label "([^"]+)" does not have known values`),
		"gives its nodes no label $1",
		"have a NodePool give its nodes the label $1 (spec.template.metadata.labels or spec.template.spec.requirements), or {recreate} with a nodeSelector or affinity without it",
	},
	{
		lazyregexp.New(`key ([^\s,]+), .* not in `),
		"does not offer what the pod demands of $1",
		"compare nodeSelector and affinity of the pod with the requirements of the NodePool for $1",
	},
	{
		lazyregexp.New(`did not tolerate (?:taint \(taint=)?([^\s;)]+)`),
		"has the taint $1",
		"{recreate} with a toleration for the taint $1 of the NodePool",
	},
}

// incompatible matches what Karpenter reports about one NodePool.
var incompatible = lazyregexp.New(`^incompatible with (?:nodepool|provisioner) "([^"]+)"(?:, daemonset overhead=\{[^}]*\})?, (?:incompatible requirements, )?(.+)$`)

// maxPools is the maximum number of NodePools in a sentence.
const maxPools = 3

// pools returns what Karpenter reports about its NodePools as a clause, with advice on the kind of reason that is first in poolRows; "" for
// a message in another format.
func (a *Autoscaler) pools() (text, advice string) {
	var clauses []string
	best := len(poolRows)
	for part := range strings.SplitSeq(a.Why, "; ") {
		m := incompatible.FindStringSubmatch(part)
		if m == nil {
			continue
		}
		clause, fix, at := poolClause(m[2])
		clauses = append(clauses, "NodePool "+m[1]+" "+clause)
		if at < best {
			advice, best = fix, at
		}
	}
	if n := len(clauses) - maxPools; n > 0 {
		clauses = append(clauses[:maxPools], wording.Plural(int32(n), "other NodePool", "other NodePools"))
	}
	return strings.Join(clauses, ", "), advice
}

// amount matches a resource with its amount in a list of Karpenter.
var amount = lazyregexp.New(`"([^"]+)":"([^"]+)"`)

// wanted returns the resources in a list of Karpenter in brackets, and another text as it is.
func wanted(text string) string {
	if !strings.HasPrefix(text, "{") {
		return text
	}
	var all []string
	for _, m := range amount.FindAllStringSubmatch(text, -1) {
		if m[1] != "pods" {
			all = append(all, m[1]+" "+m[2])
		}
	}
	return wording.InBrackets(strings.Join(all, ", "))
}

// poolClause returns a reason as the predicate of a sentence about its NodePool, advice, and the position of its row.
func poolClause(reason string) (text, advice string, at int) {
	for i := range poolRows {
		if m := poolRows[i].pattern.FindStringSubmatch(reason); m != nil {
			group := wanted(cmp.Or(m[1:]...))
			fill := func(template string) string { return strings.ReplaceAll(template, "$1", group) }
			return fill(poolRows[i].text), fill(poolRows[i].advice), i
		}
	}
	return "does not fit: " + wording.Quoted(wording.Shorten(reason, maxDetail)), "", len(poolRows)
}
