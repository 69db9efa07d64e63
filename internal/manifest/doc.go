// Package manifest reads Kubernetes manifests from files, folders, globs and standard input, as kubectl's -f does, and
// remembers where each field stands in its file.
//
//	files ─► documents ─► objects, lists taken apart ─► Job templates ─► names into the annotation
//
// A document is parsed twice. What it means comes from sigs.k8s.io/yaml, as in kubectl, so that the API server gets from
// us what it would get from kubectl (yes is a boolean there, and 0777 is octal). Where a field stands comes from the
// nodes of go.yaml.in/yaml/v3, the maintained successor of the YAML library that kubectl has; they are never decoded. Those
// of JSON are made of its tokens: not all JSON is YAML for that library.
//
// It promises: objects in the order of the input; fields that this program does not know survive; every error says where,
// on one line; memory is bounded, whatever the input (MaxSize, maxAliased). A document that cannot be read does not
// keep others from being read.
//
// It never talks to a cluster, and never writes to a terminal: errors quote the input, so make them safe before showing
// them (internal/sanitize).
package manifest
