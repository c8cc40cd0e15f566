"""What a Website stands for: a ConfigMap, a Deployment that serves it, a Service and an Ingress. Pure functions."""

from __future__ import annotations

from hashlib import sha256

from kubewright import LabelSelector, ObjectMeta
from kubewright.kinds import apps_v1, core_v1, networking_v1
from website_operator.api.v1alpha1 import Website


def labels(site: Website) -> dict[str, str]:
    return {"app": site.name, "managed-by": "website-operator"}


def metadata(site: Website) -> ObjectMeta:
    return ObjectMeta(name=site.name, labels=labels(site))


def content(site: Website) -> core_v1.ConfigMap:
    return core_v1.ConfigMap(metadata=metadata(site), data={"index.html": site.spec.html})


def deployment(site: Website) -> apps_v1.Deployment:
    server = core_v1.Container(
        name="server",
        image="nginx:1.29",
        ports=[core_v1.ContainerPort(name="http", container_port=80)],
        volume_mounts=[core_v1.VolumeMount(name="content", mount_path="/usr/share/nginx/html")],
    )
    volume = core_v1.Volume(name="content", config_map=core_v1.ConfigMapVolumeSource(name=site.name))
    digest = sha256(site.spec.html.encode()).hexdigest()[:16]  # a new page is a new template, so it is rolled out
    return apps_v1.Deployment(
        metadata=metadata(site),
        spec=apps_v1.DeploymentSpec(
            replicas=site.spec.replicas,
            selector=LabelSelector(match_labels=labels(site)),
            template=core_v1.PodTemplateSpec(
                metadata=ObjectMeta(labels=labels(site), annotations={"web.example.com/content": digest}),
                spec=core_v1.PodSpec(containers=[server], volumes=[volume]),
            ),
        ),
    )


def service(site: Website) -> core_v1.Service:
    port = core_v1.ServicePort(name="http", port=80, target_port="http")
    return core_v1.Service(metadata=metadata(site), spec=core_v1.ServiceSpec(selector=labels(site), ports=[port]))


def ingress(site: Website) -> networking_v1.Ingress:
    port = networking_v1.ServiceBackendPort(name="http")
    backend = networking_v1.IngressBackend(service=networking_v1.IngressServiceBackend(name=site.name, port=port))
    path = networking_v1.HTTPIngressPath(path="/", path_type="Prefix", backend=backend)
    rule = networking_v1.IngressRule(host=site.spec.host, http=networking_v1.HTTPIngressRuleValue(paths=[path]))
    tls = networking_v1.IngressTLS(hosts=[site.spec.host or ""], secret_name=f"{site.name}-tls")
    return networking_v1.Ingress(
        metadata=metadata(site),
        spec=networking_v1.IngressSpec(rules=[rule], tls=[tls] if site.spec.tls else None),
    )
