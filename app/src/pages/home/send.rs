//! How a trace is sent to this app: commands with its real addresses filled in.

use cascade_api::Health;
use leptos::prelude::*;

use crate::site::{Site, use_site};
use crate::ui::{CodeBlock, DocLink, Tab, Tabs};

/// Where this app takes traces, as commands name it.
struct Addresses {
    app: String,
    s3: String,
    bucket: String,
    prefix: String,
    key: String,
}

impl Addresses {
    fn new(site: &Site, health: Option<&Health>) -> Self {
        let said = |value: Option<&String>, default: &str| value.map_or(default, String::as_str).to_owned();
        Self {
            app: site.url.clone(),
            s3: said(site.s3_endpoint.as_ref(), "http://127.0.0.1:9000"),
            bucket: said(health.and_then(|health| health.s3_bucket.as_ref()), "cascade"),
            prefix: said(
                health.and_then(|health| health.s3_prefix.as_ref()),
                "accelsim-traces",
            ),
            key: said(site.workspace.as_ref(), "cascade"),
        }
    }

    fn cascade(&self) -> String {
        format!(
            "export CASCADE_URL={} CASCADE_TOKEN=<your token>\nexport CASCADE_S3_ENDPOINT={}\ncascade upload ./my-trace --run-name my-trace",
            self.app, self.s3
        )
    }

    fn aws(&self) -> String {
        format!(
            "export AWS_ACCESS_KEY_ID={} AWS_SECRET_ACCESS_KEY=<your token> AWS_DEFAULT_REGION=us-east-1\naws --endpoint-url {} s3 cp --recursive ./my-trace s3://{}/{}/my-trace/",
            self.key, self.s3, self.bucket, self.prefix
        )
    }

    fn rclone(&self) -> String {
        format!(
            "export RCLONE_CONFIG_CASCADE_TYPE=s3 RCLONE_CONFIG_CASCADE_PROVIDER=Other\nexport RCLONE_CONFIG_CASCADE_ENDPOINT={} RCLONE_CONFIG_CASCADE_FORCE_PATH_STYLE=true\nexport RCLONE_CONFIG_CASCADE_ACCESS_KEY_ID={} RCLONE_CONFIG_CASCADE_SECRET_ACCESS_KEY=<your token>\nrclone copy ./my-trace cascade:{}/{}/my-trace",
            self.s3, self.key, self.bucket, self.prefix
        )
    }

    fn record(&self) -> String {
        format!(
            "export USER_DEFINED_FOLDERS=1 TRACES_FOLDER=$PWD/my-trace ACTIVE_FROM_START=0\nLD_PRELOAD=$PWD/tracer_tool/tracer_tool.so python my_workload.py\n{}",
            self.cascade()
        )
    }
}

/// One tab for each way.
#[component]
pub(crate) fn SendTrace(
    /// What the app says of its bucket.
    health: Option<Health>,
) -> impl IntoView {
    let to = Addresses::new(&use_site(), health.as_ref());
    let tab = |title, about: &'static str, code: String| Tab {
        title,
        view: view! { <p class="muted small">{about}</p> <CodeBlock code /> }.into_any(),
    };
    let tabs = vec![
        tab(
            "cascade upload",
            "Signs, sends parts in parallel and goes on where it broke off.",
            to.cascade(),
        ),
        tab(
            "aws s3 cp",
            "The bucket speaks S3; the secret is the workspace's token.",
            to.aws(),
        ),
        tab("rclone", "The same bucket with rclone.", to.rclone()),
        tab(
            "Record one",
            "On the machine with the GPU, with Accel-Sim's NVBit tracer; then send what it wrote.",
            to.record(),
        ),
    ];
    view! {
        <Tabs label="Ways to send a trace" id="send" tabs />
        <p><DocLink href="/docs/trace">"What a trace is made of"</DocLink></p>
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn commands_name_this_app() {
        let site = Site {
            url: "https://lab.example".into(),
            s3_endpoint: Some("https://s3.lab.example".into()),
            workspace: Some("lab".into()),
            ..Site::default()
        };
        let to = Addresses::new(&site, None);
        assert!(to.cascade().contains("CASCADE_URL=https://lab.example "));
        for command in [to.aws(), to.rclone()] {
            assert!(command.contains("https://s3.lab.example"), "{command}");
            assert!(command.contains("KEY_ID=lab "), "{command}");
            assert!(command.contains("cascade/accelsim-traces/my-trace"), "{command}");
        }
    }
}
