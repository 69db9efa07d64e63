package meaning

import (
	"strings"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/lazyregexp"
)

// predicateNames are the names of reasons in messages of kube-scheduler before 1.10 and of schedulers that are built on it, with the words that
// kube-scheduler has for them today.
var predicateNames = map[string]string{
	"MatchNodeSelector":                     "node(s) didn't match Pod's node affinity/selector",
	"MatchInterPodAffinity":                 "node(s) didn't match pod affinity/anti-affinity",
	"ExistingPodsAntiAffinityRulesNotMatch": "node(s) didn't satisfy existing pods anti-affinity rules",
	"PodToleratesNodeTaints":                "node(s) had untolerated taint(s)",
	"PodToleratesNodeNoExecuteTaints":       "node(s) had untolerated taint(s)",
	"PodFitsHostPorts":                      "node(s) didn't have free ports for the requested pod ports",
	"HostName":                              "node(s) didn't match the requested node name",
	"PodFitsHost":                           "node(s) didn't match the requested node name",
	"CheckNodeUnschedulable":                "node(s) were unschedulable",
	"NodeUnschedulable":                     "node(s) were unschedulable",
	"NoVolumeZoneConflict":                  "node(s) had no available volume zone",
	"NoVolumeNodeConflict":                  "node(s) had volume node affinity conflict",
	"VolumeNodeAffinityConflict":            "node(s) had volume node affinity conflict",
	"VolumeBindingNoMatch":                  "node(s) didn't find available persistent volumes to bind",
	"MaxVolumeCount":                        "node(s) exceed max volume count",
	"MaxCSIVolumeCount":                     "node(s) exceed max volume count",
	"MaxEBSVolumeCount":                     "node(s) exceed max volume count",
	"MaxGCEPDVolumeCount":                   "node(s) exceed max volume count",
	"MaxAzureDiskVolumeCount":               "node(s) exceed max volume count",
	"EvenPodsSpread":                        "node(s) didn't match pod topology spread constraints",
	"node(s) pod number exceeded":           "Too many pods",
	"node(s) resource fit failed":           "node(s) lack resources",
}

// countedAfter matches a reason of these schedulers, whose number of nodes follows: MatchNodeSelector (1).
var countedAfter = lazyregexp.New(`^(.+) \((\d+)\)$`)

// ofPredicates matches the beginning of the list in a message of these schedulers.
var ofPredicates = lazyregexp.New(`^(?:No nodes are available that match all of the (?:following )?predicates::? |.*\bfit failure summary on nodes : |.*\ball nodes are unavailable: )`)

// ofPlugin matches what Volcano puts before a reason.
var ofPlugin = lazyregexp.New(`plugin \S+ predicates failed `)

// inTodaysFormat returns a message of these schedulers with its list in kube-scheduler's format, and other messages as they are.
func inTodaysFormat(message string) string {
	message = ofPlugin.ReplaceAllString(message, "")
	prefix := ofPredicates.FindString(message)
	if prefix == "" {
		return message
	}
	list := strings.Split(strings.TrimRight(message[len(prefix):], "."), ", ")
	for i, reason := range list {
		list[i] = countedAfter.ReplaceAllString(reason, "$2 $1")
	}
	return noneOf + strings.Join(list, ", ")
}
