package meaning

import (
	"fmt"
	"strings"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/wording"
)

// Hosts has what the names of the pods of an Indexed Job in DNS depend on: the names of the Job and of its JobSet, "" for none, and the
// subdomain in the pod template. Pods of other Jobs have no such names.
type Hosts struct{ Job, Set, Subdomain string }

// PodIn returns the Job, the host name of the pod and the Service that a host names, if the pod is one of the Job, or of another Job of its
// JobSet; "" for other hosts.
func (h *Hosts) PodIn(host string) (job, pod, service string) {
	host, _, _ = strings.Cut(host, " ")
	host, _, _ = strings.Cut(host, ":")
	pod, rest, _ := strings.Cut(host, ".")
	service, _, _ = strings.Cut(rest, ".")
	job = podOfSet.Group(pod)
	isOfSet := h.Set != "" && strings.HasPrefix(job, h.Set+"-") && podOfSet.MatchString(job)
	if job == "" || job != h.Job && !isOfSet {
		return "", "", ""
	}
	return job, pod, service
}

// IsWrong reports whether a host means a pod of the Job by a name that DNS does not have.
func (h *Hosts) IsWrong(host string) bool {
	job, _, service := h.PodIn(host)
	return job != "" && (h.Subdomain == "" || h.Subdomain != service)
}

// ofHosts returns the remedy for a pod of the Job that is not reached by its name; empty for other errors.
func (e *KnownError) ofHosts(c *Container) (none Remedy) {
	if !e.IsOfNetwork() {
		return none
	}
	h, host, place := &c.Hosts, e.Host(), ""
	for _, p := range c.peers() {
		if job, _, _ := h.PodIn(p.host); job != "" && (host == "" || strings.HasPrefix(p.host, host) || strings.HasPrefix(host, p.host)) {
			host, place = p.host, " in "+p.place
		}
	}
	host, _, _ = strings.Cut(host, ":")
	job, pod, service := h.PodIn(host)
	switch {
	case job == "", e.Host() == "" && !h.IsWrong(host): // It may be about another host.
		return none
	case h.Subdomain == "":
		return Remedy{OfTemplate: true, Text: fmt.Sprintf("{recreate} with subdomain%s in the pod template, and create a headless Service of that name (clusterIP: None) that selects its pods: without both, DNS has no name %s", wording.InBrackets(service), host)}
	case service != h.Subdomain:
		return Remedy{OfTemplate: true, Text: fmt.Sprintf("name host %s.%s%s in place of %s: the pods have the subdomain %s", pod, h.Subdomain, place, host, h.Subdomain)}
	}
	return Remedy{Text: fmt.Sprintf("look at the pod of index %s of Job %s, which host %s means, and at its log: it has to run and to listen, and headless Service %s (clusterIP: None) to exist and to select it, with publishNotReadyAddresses if others need it before it is ready", strings.TrimPrefix(pod, job+"-"), job, host, service)}
}
