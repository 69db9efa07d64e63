# Sourced: `make_pki` makes a CA in /run/node/pki, and for each component a certificate and a
# kubeconfig with no more rights than it has in any cluster.
# shellcheck shell=sh

pki=/run/node/pki

# key_and_certificate NAME SUBJECT [ALTERNATIVE NAMES]
key_and_certificate() {
	openssl req -new -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -subj "$2" \
		-addext "subjectAltName=${3:-DNS:$1}" -addext 'extendedKeyUsage=serverAuth,clientAuth' \
		-keyout "$pki/$1.key" -out "$pki/$1.csr"
	openssl x509 -req -in "$pki/$1.csr" -CA "$pki/ca.crt" -CAkey "$pki/ca.key" -days 2 \
		-copy_extensions copy -out "$pki/$1.crt"
}

# identity NAME SUBJECT: a client of the API server
identity() {
	key_and_certificate "$1" "$2"
	config=/run/node/$1.kubeconfig
	kubectl config --kubeconfig "$config" set-cluster node --server https://10.99.0.1:6443 --certificate-authority "$pki/ca.crt"
	kubectl config --kubeconfig "$config" set-credentials node --client-certificate "$pki/$1.crt" --client-key "$pki/$1.key"
	kubectl config --kubeconfig "$config" set-context node --cluster node --user node
	kubectl config --kubeconfig "$config" use-context node
}

all_of_pki() {
	openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -days 2 -subj /CN=node-ca \
		-keyout "$pki/ca.key" -out "$pki/ca.crt"
	openssl ecparam -name prime256v1 -genkey -noout -out "$pki/accounts.key"
	key_and_certificate apiserver /CN=kube-apiserver DNS:kubernetes.default.svc,IP:10.99.0.1,IP:10.97.0.1,IP:127.0.0.1
	key_and_certificate kubelet-server /O=system:nodes/CN=system:node:node IP:10.99.0.1
	identity admin /O=system:masters/CN=admin
	identity kubelet /O=system:nodes/CN=system:node:node
	identity kube-controller-manager /CN=system:kube-controller-manager
	identity kube-scheduler /CN=system:kube-scheduler
	identity kube-proxy /CN=system:kube-proxy
}

make_pki() {
	all_of_pki >/var/log/pki.log 2>&1 || { cat /var/log/pki.log >&2; return 1; }
}
