package meaning

import (
	"fmt"
	"strings"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/lazyregexp"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/wording"
)

// setupWords are words of messages about containers that cannot be set up, with advice on what they are about. The first that matches counts.
var setupWords = []struct {
	words  *lazyregexp.Regexp
	advise func(c Container) string
}{
	{lazyregexp.New(`(?i)capabilit|seccomp|apparmor|selinux|sysctl|privilege|keyring|user ?ns|id-?map`), func(c Container) string {
		return fmt.Sprintf("compare the securityContext of container %s and of its pod with what the kernel and the container runtime of the node support, or have the pod run on another one", c.Name)
	}},
	{lazyregexp.New(`(?i)\busers?\b|\broot\b|\b[ug]id\b|/etc/passwd|\bgroups?\b`), func(c Container) string {
		return fmt.Sprintf("correct the user of container %s%s: runAsUser, runAsGroup and runAsNonRoot in securityContext, and USER of image %s", c.Name, c.userText(), c.Image)
	}},
	{lazyregexp.New(`(?i)\bdevices?\b|\bgpus?\b|nvidia|\bcdi\b`), func(c Container) string {
		return "check the driver and the device plugin of the node" + prefixed(" for ", wording.Enumerate(c.Devices, "and")) + ", or have the pod run on another one"
	}},
	{lazyregexp.New(`(?i)\bmemory\b|\boom\b|\bEOF\b|broken pipe|\bkilled\b`), func(c Container) string { return runtimeMemory(c, "") }},
	{lazyregexp.New(`(?i)\btim(?:ed|e) ?out|deadline|\breserved\b|\balready\b|in use\b|in progress|\bbusy\b|unavailable|not running`), func(Container) string {
		return "wait; if it lasts, restart the container runtime of the node, and check its disk, which is slow or overloaded most of the time" + retried
	}},
	{lazyregexp.New(`(?i)\bimages?\b|manifest|snapshot|\blayers?\b`), func(c Container) string {
		return fmt.Sprintf("remove image %s from the node (crictl rmi) and have it pulled again, or have the pod run on another node", c.Image)
	}},
	{lazyregexp.New(`(?i)\bcommand\b|entrypoint|executable|\bexec\b|\bargs?\b`), func(c Container) string {
		return fmt.Sprintf("correct command and args of container %s, or run an image whose ENTRYPOINT starts: that of the container is %s", c.Name, c.Image)
	}},
	{lazyregexp.New(`(?i)\bmount|rootfs|sub-?path|propagation`), func(c Container) string {
		var all []string
		for i := range c.Mounts {
			all = append(all, c.Mounts[i].Path)
		}
		return "if its pods start on other nodes, see what the container runtime logs on this one; otherwise correct the volumeMounts of container " + c.Name + wording.InBrackets(wording.EnumerateFew(all))
	}},
}

// SetupAdvice returns advice on a container that cannot be set up, if the meaning of the message is unknown: on the volume or the value of the pod
// template that it names, or on what its words are about; "" for others.
func SetupAdvice(message string, c Container) string {
	for _, found := range givenWords.FindAllStringSubmatch(message, -1) {
		word := strings.Join(found[1:], "")
		for i := range c.Mounts {
			m := &c.Mounts[i]
			inVolume := word == m.Volume || ofKubelet.Group(word) == m.Volume || isBelow(word, m.Directory) || strings.Trim(m.Path, "/") != "" && isBelow(word, m.Path)
			if inVolume {
				return "correct " + m.place(c) + prefixed(": its path on the node is ", m.Directory)
			}
		}
		if place, isWhole := c.origin(word); isWhole {
			return "correct " + asWord(word) + " in " + place
		}
	}
	for i := range setupWords {
		if text := setupWords[i].advise(c); text != "" && setupWords[i].words.MatchString(message) {
			return text
		}
	}
	return ""
}
