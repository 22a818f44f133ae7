//! Pages, and who gets to see them.

use reqwest::header::{COOKIE, LOCATION, SET_COOKIE};
use reqwest::{Method, StatusCode};

use crate::app::{TOKEN, TestApp};

async fn session(app: &TestApp) -> String {
    let request = app
        .bare(Method::POST, "/session")
        .header("content-type", "application/x-www-form-urlencoded");
    let answer = request.body(format!("token={TOKEN}")).send().await.unwrap();
    let cookie = answer.headers()[SET_COOKIE].to_str().unwrap();
    cookie.split(';').next().unwrap().to_owned()
}

#[tokio::test]
async fn a_browser_without_a_session_is_sent_to_the_token_screen() {
    let app = TestApp::start().await;
    for (path, to) in [("/", "/token?next=/"), ("/nope?a=b", "/token?next=/nope%3Fa%3Db")] {
        let answer = app.bare(Method::GET, path).send().await.unwrap();
        assert_eq!(
            (answer.status(), answer.headers()[LOCATION].to_str().unwrap()),
            (StatusCode::SEE_OTHER, to)
        );
    }
    let open = TestApp::with(&["--no-auth"]).await;
    assert_eq!(
        open.bare(Method::GET, "/").send().await.unwrap().status(),
        StatusCode::OK
    );
}

#[tokio::test]
async fn pages_come_rendered() {
    let app = TestApp::with(&["--token", TOKEN, "--workspace", "acme-lab"]).await;
    app.ready().await;
    let cookie = session(&app).await;
    let get = async |path: &str| {
        app.bare(Method::GET, path)
            .header(COOKIE, &cookie)
            .send()
            .await
            .unwrap()
    };
    let home = get("/").await;
    assert_eq!(home.status(), StatusCode::OK);
    assert!(
        home.headers()["content-security-policy"]
            .to_str()
            .unwrap()
            .contains("frame-ancestors 'none'")
    );
    assert!(home.text().await.unwrap().contains("acme-lab"));
    assert_eq!(get("/no/such/page").await.status(), StatusCode::NOT_FOUND);
}

#[tokio::test]
async fn built_files_are_kept_by_browsers_when_their_address_is_hashed() {
    let app = TestApp::start().await;
    let pkg = app.dir.path().join("site/pkg");
    std::fs::create_dir_all(pkg.join("abc")).unwrap();
    std::fs::write(pkg.join("abc/cascade.js"), "let x;").unwrap();
    std::fs::write(pkg.join("version.txt"), "abc").unwrap();
    let get = async |path: &str| app.bare(Method::GET, path).send().await.unwrap();
    assert!(
        get("/pkg/abc/cascade.js").await.headers()["cache-control"]
            .to_str()
            .unwrap()
            .contains("immutable")
    );
    assert_eq!(
        get("/pkg/version.txt").await.headers()["cache-control"],
        "no-cache"
    );
    assert_eq!(get("/pkg/abc/cascade.js").await.text().await.unwrap(), "let x;");
    let sneaky = get("/..%2fcascade.db").await.status();
    assert!(
        sneaky == StatusCode::SEE_OTHER || sneaky == StatusCode::NOT_FOUND,
        "{sneaky}"
    );
}
