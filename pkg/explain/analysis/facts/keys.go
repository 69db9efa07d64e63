package facts

import (
	"path"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/lazyregexp"
)

// Key is a key of a Secret or ConfigMap. IsFile reports whether the pods have it as a file of a volume, not as a variable.
type Key struct {
	Name   string
	IsFile bool
}

// KeysOf returns the keys that the Job's template needs of a Secret or ConfigMap, nil if a container or a volume takes others, too.
func KeysOf(in *Facts, kind, name string) (keys []Key) {
	spec := &in.Spec.Template.Spec
	add := func(name string, isFile bool) {
		if name != "" && !slices.ContainsFunc(keys, func(k Key) bool { return k.Name == name }) {
			keys = append(keys, Key{name, isFile})
		}
	}
	containers := slices.Concat(spec.InitContainers, spec.Containers)
	for i := range containers {
		if slices.Contains(EnvSources(in, containers[i].Name), kind+" "+name) {
			return nil
		}
		for j := range containers[i].Env {
			add(keyOf(containers[i].Env[j].ValueFrom, kind, name), false)
		}
	}
	for i := range spec.Volumes {
		items, found := itemsOf(&spec.Volumes[i], kind, name)
		if found && items == nil {
			if items = filesOf(containers, spec.Volumes[i].Name); items == nil {
				return nil
			}
		}
		for _, item := range items {
			add(item, true)
		}
	}
	return keys
}

// keyOf returns the key of a Secret or ConfigMap from which a variable has its value, "" for other sources.
func keyOf(from *corev1.EnvVarSource, kind, name string) string {
	switch {
	case from == nil:
	case kind == "Secret" && from.SecretKeyRef != nil && from.SecretKeyRef.Name == name:
		return from.SecretKeyRef.Key
	case kind == "ConfigMap" && from.ConfigMapKeyRef != nil && from.ConfigMapKeyRef.Name == name:
		return from.ConfigMapKeyRef.Key
	}
	return ""
}

// itemsOf returns the keys that a volume takes from a Secret or ConfigMap, nil if it takes all; found reports whether it has the object.
func itemsOf(v *corev1.Volume, kind, name string) (items []string, found bool) {
	add := func(kindOf, nameOf string, list []corev1.KeyToPath) {
		if kindOf != kind || nameOf != name {
			return
		}
		found = true
		for _, item := range list {
			items = append(items, item.Key)
		}
	}
	if v.Secret != nil {
		add("Secret", v.Secret.SecretName, v.Secret.Items)
	}
	if v.ConfigMap != nil {
		add("ConfigMap", v.ConfigMap.Name, v.ConfigMap.Items)
	}
	if v.Projected != nil {
		for _, from := range v.Projected.Sources {
			if from.Secret != nil {
				add("Secret", from.Secret.Name, from.Secret.Items)
			}
			if from.ConfigMap != nil {
				add("ConfigMap", from.ConfigMap.Name, from.ConfigMap.Items)
			}
		}
	}
	return items, found
}

// file matches the name of a file at the beginning of a text.
var file = lazyregexp.New(`^[\w-][\w.-]*`)

// filesOf returns the files of a volume that the containers name: in subPath, or below its mount in their commands and variables.
func filesOf(containers []corev1.Container, volume string) (names []string) {
	for i := range containers {
		c := &containers[i]
		texts := slices.Concat(c.Command, c.Args)
		for j := range c.Env {
			texts = append(texts, c.Env[j].Value)
		}
		for _, m := range c.VolumeMounts {
			switch {
			case m.Name != volume:
			case m.SubPath != "":
				first, _, _ := strings.Cut(m.SubPath, "/")
				names = append(names, first)
			default:
				names = append(names, filesBelow(path.Clean(m.MountPath)+"/", texts)...)
			}
		}
	}
	return names
}

// filesBelow returns the files in a directory that texts name.
func filesBelow(directory string, texts []string) (names []string) {
	for _, text := range texts {
		for {
			before, after, found := strings.Cut(text, directory)
			if !found {
				break
			}
			name := file.FindString(after)
			isWhole := name != "" && !strings.ContainsAny(after[len(name):min(len(after), len(name)+1)], "/*$?{[")
			if isWhole && (before == "" || strings.ContainsAny(before[len(before)-1:], " \t\n\"'=:;(|&,`<>")) {
				names = append(names, name)
			}
			text = after
		}
	}
	return names
}

// SourceOf returns the Secret or ConfigMap from which a projected volume takes a key, "" if it takes it from none.
func SourceOf(v *corev1.Volume, kind, key string) string {
	for _, from := range v.Projected.Sources {
		name := ""
		switch {
		case kind == "Secret" && from.Secret != nil:
			name = from.Secret.Name
		case kind == "ConfigMap" && from.ConfigMap != nil:
			name = from.ConfigMap.Name
		}
		if items, _ := itemsOf(v, kind, name); slices.Contains(items, key) {
			return name
		}
	}
	return ""
}
