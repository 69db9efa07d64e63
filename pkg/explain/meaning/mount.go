package meaning

import (
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/wording"
)

// Mount is a volume of a container: its path, its name, and the kind of its source, "" for kinds that need no word.
type Mount struct {
	Path, Volume, Kind string
	// ReadOnly reports whether the container cannot write to it, Private whether only the owner and the group of its files may read them, and
	// IsBucket whether it is a bucket, whose files have a fixed owner and mode.
	ReadOnly, Private, IsBucket bool
	// Directory is the path of a hostPath on its node, and Type the type that it demands.
	Directory, Type string
	// SubPath reports whether only a part of the volume is mounted. Earlier are the init containers before the container that have the volume, too.
	SubPath bool
	Earlier []string
}

// mountOf returns the mount that has a file of the container, nil for a file of its image.
func mountOf(file string, mounts []Mount) (in *Mount) {
	for i := range mounts {
		if m := &mounts[i]; isBelow(file, m.Path) && (in == nil || len(m.Path) > len(in.Path)) {
			in = m
		}
	}
	return in
}

func isBelow(file, dir string) bool {
	return dir != "" && strings.HasPrefix(path.Clean(file)+"/", strings.TrimSuffix(path.Clean(dir), "/")+"/")
}

// name returns the name of the volume with its kind.
func (m *Mount) name() string { return "volume " + m.Volume + wording.InBrackets(m.Kind) }

// place returns the name with the path and the container, "" for a file in no volume.
func (m *Mount) place(c Container) string {
	if m == nil {
		return ""
	}
	return fmt.Sprintf("%s, which is mounted at %s in container %s", m.name(), m.Path, c.Name)
}

// sourceAdvice returns advice on a volume that the kubelet cannot mount for an unknown reason, "" for one of a driver or a server.
func (m *Mount) sourceAdvice() string {
	switch {
	case m != nil && m.Directory != "":
		return fmt.Sprintf("compare %s (%s%s) with what {node} has there, or have the pod run on a node that has it", m.name(), m.Directory, prefixed(", type ", m.Type))
	case m != nil && m.isFixed():
		return fmt.Sprintf("compare %s in the pod template with what exists in the namespace: names, and keys in items; if they agree, check the network between {node} and the API server", m.name()) + retried
	}
	return ""
}

// isFixed reports whether the volume is read-only whatever its mount says.
func (m *Mount) isFixed() bool {
	kind, _, _ := strings.Cut(m.Kind, " ")
	return slices.Contains([]string{"ConfigMap", "Secret", "projected", "downwardAPI", "image"}, kind)
}

// executable says how a program in the volume becomes executable, and what else may be in the way.
func (m *Mount) executable() string {
	if strings.HasPrefix(m.Kind, "ConfigMap ") || strings.HasPrefix(m.Kind, "Secret ") {
		return "defaultMode: 0755 for " + m.name()
	}
	text, options := "chmod +x in "+m.name()+", which is mounted at "+m.Path, "its mountOptions"
	if len(m.Earlier) > 0 {
		text += ", by init container " + wording.Enumerate(m.Earlier, "or")
	}
	if m.Kind == "emptyDir" || m.Directory != "" {
		options = "the file system of the node"
	}
	return text + "; if it is executable, look for noexec on " + options + ", and for denials of SELinux or AppArmor"
}
